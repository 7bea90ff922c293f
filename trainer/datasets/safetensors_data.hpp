#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "datasets/array_file.hpp"
#include "datasets/array_source.hpp"

namespace hpcboot::data {

/// The tensors of a safetensors file. Images are read from the file one by one, on demand.
/// @throws Error{unreadable_file, malformed_data}
std::shared_ptr<const ArrayFile> open_safetensors(const std::filesystem::path& path);

/// What the tensors of a model in several files are, which no reader of data sets takes.
/// @throws Error{unreadable_file, malformed_data}
std::vector<ArrayInfo> tensors_of_model(const std::filesystem::path& folder);

/// Writes both splits. Needs memory for both.
/// @param progress called periodically with the number of images read since the last call
/// @throws Error{unwritable_output}
void write_safetensors_data(const std::filesystem::path& path, const Dataset& train,
                            const Dataset& test, const std::function<void(std::int64_t)>& progress);

/// The same for arrays of any type.
void write_safetensors_data(const std::filesystem::path& path,
                            const std::vector<ArraySource>& arrays,
                            const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
