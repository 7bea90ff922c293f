#pragma once

#include <filesystem>
#include <functional>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// Writes both splits as MNIST's four files, replacing existing ones.
/// @param progress called with the number of images read since the last call
/// @throws Error{unwritable_output, invalid_model_use}, the latter if the images are not grey
///   images of bytes, or have more than 10 classes
void write_mnist(const std::filesystem::path& folder, const Dataset& train, const Dataset& test,
                 const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
