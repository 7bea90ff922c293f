#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "datasets/cifar.hpp"

namespace hpcboot::data {

/// Bytes before the pixels of a record: the label; in CIFAR-100 the coarse and the fine one.
std::size_t cifar_label_bytes(std::int64_t classes);

/// Appends the first `most` images of a file in CIFAR's binary form, or all if there are fewer.
/// @param classes 10 or 100
/// @throws Error{unreadable_file}; Error{malformed_data}, with file and byte offset, if the size is
///   not a multiple of a record's or a label is out of range
void read_cifar_binary(const std::filesystem::path& path, std::int64_t classes, std::int64_t most,
                       CifarImages& images);

}  // namespace hpcboot::data
