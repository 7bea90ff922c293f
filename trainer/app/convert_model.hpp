#pragma once

#include <filesystem>
#include <string>

#include "app/convert_command.hpp"

namespace hpcboot::app {

/// Whether to convert a model, not a data set: one of several files, a checkpoint, or with
/// --shards.
bool is_of_model(const ConvertRequest& request);

/// Writes the parameters and buffers of a model to one file, or to several in a folder, which
/// appears when complete. @return what was written: "161 tensors in model.safetensors"
/// @throws Error{unreadable_file, malformed_file}; Error{invalid_model_use} for options of data
///         sets; Error{unwritable_output}, also if the target exists and is not to be replaced, or
///         its name fits no model
std::string convert_model(const ConvertRequest& request);

}  // namespace hpcboot::app
