#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/array_file.hpp"
#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// How a converted set is to be stored. Only HDF5 takes chunk and compress.
struct StorageOptions {
  std::int64_t chunk = 0;  ///< images a chunk; 0: the format's choice
  int compress = 0;        ///< 1 to 9; 0: not compressed
};

/// A way in which a data set can be stored. A new one is a file of its own, and a line in the table
/// of formats.cpp.
struct Format {
  std::string_view name;    ///< "HDF5"
  std::string_view places;  ///< what names such a set: "FILE.h5"
  /// By its name alone, whether it exists or not.
  bool (*has_name)(const std::string& place) = nullptr;
  /// By the first bytes of a file; null where the set is no file.
  bool (*has_content)(std::string_view begin) = nullptr;
  std::unique_ptr<Dataset> (*open)(const std::string& place, Split split,
                                   std::int64_t limit) = nullptr;
  /// Null where the set is no file of arrays.
  std::shared_ptr<const ArrayFile> (*arrays)(const std::filesystem::path& file) = nullptr;
  /// Null where sets of this kind are not written.
  void (*write)(const std::filesystem::path& place, const Dataset& train, const Dataset& test,
                const StorageOptions& storage,
                const std::function<void(std::int64_t)>& progress) = nullptr;
  bool has_storage_options = false;
  std::string_view missing{};  ///< what has to be installed where this build lacks the format
};

/// Those that this build knows, in the order in which they are tried.
const std::vector<Format>& formats();

/// The format of what is at `place`: a file by its content, and only where that tells nothing by
/// its name; a folder is MNIST's.
/// @throws Error{missing_data} where nothing is there, or it is none of formats();
///   Error{unreadable_file} where it cannot be looked at; Error{backend_unavailable} where this
///   build lacks the format
const Format& format_of(const std::string& place);

/// The format in which a new set at `place` is to be written, by its name.
/// @throws Error{missing_data, backend_unavailable}
const Format& format_for_writing(const std::string& place);

/// Half of the data set at `place`: what `--data` takes.
/// @param limit keeps the first images only, 0 all
/// @throws Error{missing_data, unreadable_file, malformed_data, backend_unavailable}
std::unique_ptr<Dataset> open_dataset(const std::string& place, Split split,
                                      std::int64_t limit = 0);

/// Both halves have to have images of one number of channels; sizes may differ, as the loader
/// resizes.
/// @throws Error{malformed_data} naming `place`
void check_halves(const Dataset& train, const Dataset& test, const std::string& place);

/// For --help: "FOLDER of MNIST, FILE.h5, …".
std::string known_places();

}  // namespace hpcboot::data
