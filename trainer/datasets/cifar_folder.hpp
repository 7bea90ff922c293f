#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// The names of the files of CIFAR's binary form: "data_batch_1.bin", or "train.bin" of CIFAR-100.
/// @param number of the file, from 1; CIFAR-100 and test sets have only one
std::string cifar_binary_name(std::int64_t classes, Split split, int number = 1);

/// The files of CIFAR-10 and CIFAR-100, binary or pickled, that the folder contains, relative to
/// it: either directly or in the subfolder in which CIFAR's archives have them, such as
/// cifar-10-batches-bin.
std::vector<std::string> cifar_files_in(const std::filesystem::path& folder);

/// One split of the set at `place`, a folder, read into memory. If the folder contains both forms,
/// the binary one is read.
/// @param limit keep only the first images, and read no file beyond them; 0: all
/// @throws Error{missing_data} if a file is missing, or the folder contains both CIFAR-10 and
///   CIFAR-100; Error{unreadable_file}; Error{malformed_data}, with file and byte offset
std::unique_ptr<Dataset> open_cifar(const std::filesystem::path& place, Split split,
                                    std::int64_t limit = 0);

}  // namespace hpcboot::data
