#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "datasets/array_file.hpp"
#include "datasets/array_source.hpp"

namespace hpcboot::data {

/// The tensors of a file with a dict from names to tensors, written by Python's torch.save() or by
/// write_pt(). LibTorch reads the whole file into memory.
/// @throws Error{unreadable_file, malformed_data}
std::shared_ptr<const ArrayFile> open_pt(const std::filesystem::path& path);

/// Writes both splits as a dict of tensors, which torch.load() reads. Needs memory for both.
/// @param progress called periodically with the number of images read since the last call
/// @throws Error{unwritable_output}
void write_pt(const std::filesystem::path& path, const Dataset& train, const Dataset& test,
              const std::function<void(std::int64_t)>& progress);

/// The same for arrays of any type.
void write_pt(const std::filesystem::path& path, const std::vector<ArraySource>& arrays,
              const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
