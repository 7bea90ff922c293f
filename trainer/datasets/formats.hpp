#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/array_file.hpp"
#include "datasets/array_source.hpp"
#include "datasets/dataset.hpp"
#include "datasets/sequence_set.hpp"

namespace hpcboot::data {

/// How to store a converted set. Only HDF5 supports chunk and compress.
struct StorageOptions {
  std::int64_t chunk = 0;  ///< images per chunk; 0: the format's choice
  int compress = 0;        ///< 1 to 9; 0: not compressed
};

/// A format in which a data set can be stored. A new one needs a source file, and a line in the
/// table of formats.cpp.
struct Format {
  std::string_view name;    ///< "HDF5"
  std::string_view places;  ///< how such a set is named: "FILE.h5"
  /// Decides by the name alone; nothing needs to exist there.
  bool (*has_name)(const std::string& place) = nullptr;
  /// Decides by the first bytes of a file; null if the set is not a file.
  bool (*has_content)(std::string_view begin) = nullptr;
  /// Decides by the files of a folder; null if the set is not a folder.
  bool (*has_folder)(const std::filesystem::path& folder) = nullptr;
  /// Null if sets of this kind are not of images.
  std::unique_ptr<Dataset> (*open)(const std::string& place, Split split,
                                   std::int64_t limit) = nullptr;
  /// Null if sets of this kind are not of sequences.
  std::unique_ptr<SequenceSet> (*open_sequences)(const std::string& place, Split split,
                                                 std::int64_t limit) = nullptr;
  /// Null if the set is not a file of arrays.
  std::shared_ptr<const ArrayFile> (*arrays)(const std::filesystem::path& file) = nullptr;
  /// Null if sets of this kind cannot be written.
  void (*write)(const std::filesystem::path& place, const Dataset& train, const Dataset& test,
                const StorageOptions& storage,
                const std::function<void(std::int64_t)>& progress) = nullptr;
  /// Null if sequences cannot be written in this format.
  void (*write_arrays)(const std::filesystem::path& place, const std::vector<ArraySource>& arrays,
                       const StorageOptions& storage,
                       const std::function<void(std::int64_t)>& progress) = nullptr;
  bool has_storage_options = false;
  std::string_view missing{};  ///< what to install if this build lacks the format
};

/// All formats, in the order in which they are tried.
const std::vector<Format>& formats();

/// The format of the data at `place`. A file is identified by its content, and by its name only if
/// the content is inconclusive, a folder by its files.
/// @throws Error{missing_data} if nothing exists there, or its format is unknown;
///   Error{unreadable_file} if it cannot be examined; Error{backend_unavailable} if this build
///   lacks the format
const Format& format_of(const std::string& place);

/// The format for writing a new set at `place`, by its name.
/// @throws Error{unwritable_output, backend_unavailable}
const Format& format_for_writing(const std::string& place);

/// One split of the data set at `place`, which `--data` names.
/// @param limit keep only the first images; 0: all
/// @throws Error{missing_data, unreadable_file, malformed_data, backend_unavailable}
std::unique_ptr<Dataset> open_dataset(const std::string& place, Split split,
                                      std::int64_t limit = 0);

/// Whether the set at `place` consists of sequences. @throws what format_of() and reading throw
bool are_sequences(const std::string& place);

/// One split of the set of sequences at `place`.
/// @param limit keep only the first pairs; 0: all
/// @throws Error{missing_data, unreadable_file, malformed_data, backend_unavailable}
std::unique_ptr<SequenceSet> open_sequences(const std::string& place, Split split,
                                            std::int64_t limit = 0);

/// Checks that both splits have the same number of channels; sizes may differ, as the loader
/// resizes.
/// @throws Error{malformed_data} naming `place`
void check_splits(const Dataset& train, const Dataset& test, const std::string& place);

}  // namespace hpcboot::data
