#pragma once

#include <filesystem>
#include <functional>

#include "datasets/dataset.hpp"

namespace hpcboot::data {

/// Puts data files into `folder`, which is made where it is missing: `write_files` writes them
/// beside their place, and they are moved there when all are complete.
/// @param replace files of the same names may be there and are replaced; else they are an error
/// @throws Error{unwritable_output}, and what `write_files` throws
void fill_mnist_folder(const std::filesystem::path& folder, bool replace,
                       const std::function<void(const std::filesystem::path&)>& write_files);

/// Writes both halves as MNIST's four files, replacing what is there.
/// @param progress called with the number of images read since the last call
/// @throws Error{unwritable_output, invalid_model_use}, the latter where the images are not grey
///   ones of bytes
void write_mnist(const std::filesystem::path& folder, const Dataset& train, const Dataset& test,
                 const std::function<void(std::int64_t)>& progress);

}  // namespace hpcboot::data
