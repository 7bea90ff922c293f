#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace hpcboot::train {

/// What a program must know to build the model and to prepare images for it. Written to the file's
/// metadata as text, with the format "pt".
struct ModelFacts {
  std::string model;          ///< "resnet50"
  std::int64_t channels = 1;  ///< of an image
  std::int64_t classes = 10;
  std::int64_t image_size = 0;  ///< side length in pixels
  float mean = 0;               ///< of the pixels in [0, 1]: the model sees (pixel - mean) / std
  float std = 1;                ///< their standard deviation
};

/// Writes parameters and buffers under the names that they have in PyTorch's state_dict, so that
/// `load_state_dict(safetensors.torch.load_file(…))` accepts the file.
/// @throws Error{unwritable_output}
void write_model(const torch::nn::Module& model, const ModelFacts& facts,
                 const std::filesystem::path& file);

}  // namespace hpcboot::train
