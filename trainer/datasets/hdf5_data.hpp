#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "datasets/array_file.hpp"

namespace hpcboot::data {

/// The datasets of an HDF5 file, in its groups at any depth, each by one name. The four arrays of a
/// data set are also found behind links, those to other files included. An array that cannot be
/// opened is in the list, with the reason as its trouble.
/// Images are read batch by batch, as one hyperslab selection each. Whole chunks are kept in memory
/// up to 256 MiB, so that a compressed file of that size is decompressed once and not in each
/// epoch.
/// libhdf5 may crash at a damaged file, so that a child process opens it first and reads the labels
/// and two images of each half.
/// @throws Error{unreadable_file, malformed_data}
std::shared_ptr<const ArrayFile> open_hdf5(const std::filesystem::path& path);

/// How images are stored.
struct Hdf5Storage {
  std::int64_t chunk = 0;  ///< images a chunk; 0: chosen by size where compress asks for chunks
  int compress = 0;        ///< gzip's level, 1 to 9; 0: not compressed
};

/// Writes both halves, a part at a time. Chunks get a checksum. HDF5 1.10
/// and later read it. The file appears under its name
/// when it is complete.
/// @param progress called now and then with the number of images written since the last call
/// @throws Error{unwritable_output}, and what reading the halves throws
void write_hdf5(const std::filesystem::path& path, const Dataset& train, const Dataset& test,
                const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
