#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <map>
#include <string>

namespace hpcboot::train {

/// Writes parameters and buffers under the names that they have in PyTorch's state_dict, so that
/// `load_state_dict(safetensors.torch.load_file(…))` accepts the file.
/// @param metadata what a program must know to use the model; the format "pt" is added
/// @throws Error{unwritable_output}
void write_model(const torch::nn::Module& model, std::map<std::string, std::string> metadata,
                 const std::filesystem::path& file);

}  // namespace hpcboot::train
