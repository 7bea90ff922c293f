#pragma once

#include <torch/nn/module.h>

#include <filesystem>

namespace hpcboot::train {

/// Writes parameters and buffers under their names, as PyTorch's state_dict has them, so that
/// `load_state_dict(safetensors.torch.load_file(…))` takes the file.
/// @throws Error{unwritable_output}
void write_model(const torch::nn::Module& model, const std::filesystem::path& file);

}  // namespace hpcboot::train
