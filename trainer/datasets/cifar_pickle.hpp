#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "datasets/cifar.hpp"

namespace hpcboot::data {

/// Appends the first `most` images of a batch in CIFAR's Python form, or all if there are fewer: a
/// pickled dict with `data`, an array of N x 3072 bytes, and N labels, `labels` or `fine_labels`.
/// Nothing in the pickle is imported or run.
/// @param classes 10 or 100
/// @throws PickleError
void take_cifar_pickle(std::string_view pickle, std::int64_t classes, std::int64_t most,
                       CifarImages& images);

/// The same for a file. @throws Error{unreadable_file}; Error{malformed_data}, with file and byte
///   offset
void read_cifar_pickle(const std::filesystem::path& path, std::int64_t classes, std::int64_t most,
                       CifarImages& images);

}  // namespace hpcboot::data
