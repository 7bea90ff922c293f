#pragma once

#include <filesystem>
#include <string>

namespace hpcboot::app {

/// Whether this is a model in several safetensors files: the folder with its index, or the index.
bool is_sharded_model(const std::filesystem::path& place);

/// Writes the model to one file. @return what was written: "161 tensors in model.safetensors"
/// @throws Error{unreadable_file, malformed_file}; Error{unwritable_output}, also if `target`
///         exists and `replace` is false
std::string merge_model(const std::filesystem::path& source, const std::filesystem::path& target,
                        bool replace);

/// Writes a model of one file to several in the folder `target`, which appears when complete.
std::string split_model(const std::filesystem::path& source, const std::filesystem::path& target,
                        int shards, bool replace);

}  // namespace hpcboot::app
