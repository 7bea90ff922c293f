#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/normalization.h>

#include "models/model.hpp"

namespace hpcboot::models {

struct ViTShape {
  std::int64_t width, layers, heads;
  std::int64_t mlp;  ///< width between the two matrices of a layer's MLP
};

inline constexpr ViTShape kViTB16{768, 12, 12, 3072};
inline constexpr ViTShape kViTS16{384, 12, 6, 1536};
inline constexpr ViTShape kViTTi16{192, 12, 3, 768};

/// A Vision Transformer for patches of 16 x 16 pixels, as in torchvision 0.14, without dropout,
/// with torchvision's initialisation and names of parameters, so that weights can be exchanged.
/// Dosovitskiy et al.: An Image is Worth 16x16 Words, 2020; the small sizes are those of Touvron et
/// al.: Training data-efficient image transformers & distillation through attention, 2020.
class ViT : public Model {
 public:
  /// With options.checkpointed, its encoder's layers run with checkpoint().
  /// @throws Error{invalid_model_use} if the image size is not a multiple of 16
  ViT(const ViTShape& shape, const ImageModelOptions& options);

  /// @param inputs images, {batch, channels, height, width}; both of the model's image size
  /// @throws Error{invalid_model_use} for images of another size
  torch::Tensor forward(Inputs inputs) override;

 private:
  /// Adds the position embedding, and runs the layers and the last normalisation.
  class EncoderImpl;
  TORCH_MODULE(Encoder);

  std::int64_t image_size_;
  torch::Tensor class_token_;
  torch::nn::Conv2d conv_proj_;
  Encoder encoder_;
  torch::nn::Sequential heads_;
};

}  // namespace hpcboot::models
