#pragma once

#include <filesystem>
#include <functional>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// Puts data files into `folder`, which is created if missing: `write_files` writes them to a
/// staging folder, and they are moved into place when all are complete.
/// @param replace existing files of the same names are replaced; otherwise they are an error
/// @throws Error{unwritable_output}, and what `write_files` throws
void fill_mnist_folder(const std::filesystem::path& folder, bool replace,
                       const std::function<void(const std::filesystem::path&)>& write_files);

/// Writes both splits as MNIST's four files, replacing existing ones.
/// @param progress called with the number of images read since the last call
/// @throws Error{unwritable_output, invalid_model_use}, the latter if the images are not grey
///   images of bytes, or have more than 10 classes
void write_mnist(const std::filesystem::path& folder, const Dataset& train, const Dataset& test,
                 const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
