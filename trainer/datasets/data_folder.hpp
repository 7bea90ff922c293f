#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hpcboot::data {

/// The files of MNIST and CIFAR that a folder contains, relative to it.
std::vector<std::string> data_files_in(const std::filesystem::path& folder);

/// Puts data files into `folder`, which is created if missing: `write_files` writes them to a
/// staging folder, and they are moved into place when all are complete.
/// @param replace existing files of the same names are replaced; otherwise any data files in the
///   folder are an error
/// @throws Error{unwritable_output}, and what `write_files` throws
void fill_data_folder(const std::filesystem::path& folder, bool replace,
                      const std::function<void(const std::filesystem::path&)>& write_files);

}  // namespace hpcboot::data
