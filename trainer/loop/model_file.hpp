#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace hpcboot::train {

/// What a program has to know to build the model and to prepare images for it. In the file's
/// metadata, as text, beside the format: "pt".
struct ModelFacts {
  std::string model;          ///< "resnet50"
  std::int64_t channels = 1;  ///< of an image
  std::int64_t classes = 10;
  std::int64_t image_size = 0;  ///< pixels of a side
  float mean = 0;               ///< of the pixels in [0, 1], subtracted before the model sees them
  float std = 1;                ///< by which they are divided then
};

/// Writes parameters and buffers under their names, as PyTorch's state_dict has them, so that
/// `load_state_dict(safetensors.torch.load_file(…))` takes the file.
/// @throws Error{unwritable_output}
void write_model(const torch::nn::Module& model, const ModelFacts& facts,
                 const std::filesystem::path& file);

}  // namespace hpcboot::train
