#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "datasets/array_file.hpp"
#include "datasets/array_source.hpp"

namespace hpcboot::data {

/// The datasets of an HDF5 file, in groups at any depth, each under one name. The four arrays of a
/// data set are also found behind links, including links to other files. An array that cannot be
/// opened is listed, with the reason as its trouble.
/// Samples are read batch by batch, with one hyperslab selection per batch. Up to 256 MiB of whole
/// chunks are cached of each array, so that a compressed array of that size is decompressed once,
/// not in every epoch.
/// libhdf5 may crash on a damaged file, so a child process opens it first and reads the labels and
/// two images or sequences of each split.
/// @throws Error{unreadable_file, malformed_data}
std::shared_ptr<const ArrayFile> open_hdf5(const std::filesystem::path& path);

/// How images are stored.
struct Hdf5Storage {
  std::int64_t chunk = 0;  ///< images per chunk; 0: chosen by size if compress requires chunks
  int compress = 0;        ///< gzip's level, 1 to 9; 0: not compressed
};

/// Writes both splits, block by block. Chunks get a checksum. HDF5 1.10 and later can read the
/// file. It appears under its name when it is complete.
/// @param progress called periodically with the number of images written since the last call
/// @throws Error{unwritable_output}, and what reading the splits throws
void write_hdf5(const std::filesystem::path& path, const Dataset& train, const Dataset& test,
                const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress);

/// The same for arrays of float32 or float64.
void write_hdf5(const std::filesystem::path& path, const std::vector<ArraySource>& arrays,
                const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
