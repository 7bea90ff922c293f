#pragma once

#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformerlayer.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "hpcboot/torch/fully_shard.hpp"
#include "models/model.hpp"

namespace hpcboot::models {

struct TransformerSize {
  std::int64_t width = 512;  ///< of the vectors of sequences
  std::int64_t heads = 8;
  std::int64_t layers = 6;  ///< of the encoder, and of the decoder
  double dropout = 0.1;
};

/// The layers of torch::nn::Transformer with the positional encoding of its paper (Vaswani and
/// others: Attention Is All You Need, 2017): its encoder reads a source, its decoder writes a
/// target, vector by vector, and sees those before. Feed-forward layers are four times as wide as
/// the vectors, as in the paper. Parameters have the names and first values of PyTorch's
/// nn.Transformer, so that weights can be exchanged. Each layer is a unit of fully_shard().
class Transformer : public Model {
 public:
  /// @throws Error{invalid_model_use} if the heads do not divide the width
  explicit Transformer(const TransformerSize& size);

  /// @param inputs the sources, {batch, length, width}, and the targets as the decoder sees them,
  ///        each one vector later, {batch, length, width}
  /// @return the targets, {batch, length, width}
  torch::Tensor forward(Inputs inputs) override;

 private:
  template <typename Layer>
  using Units = std::vector<std::shared_ptr<ShardUnitOf<Layer>>>;

  /// The sequence with the encoding of its positions, as the layers take it: {length, batch, width}
  torch::Tensor placed(const torch::Tensor& sequence);

  Units<torch::nn::TransformerEncoderLayerImpl> encoder_;
  Units<torch::nn::TransformerDecoderLayerImpl> decoder_;
  torch::nn::LayerNorm encoder_norm_{nullptr};
  torch::nn::LayerNorm decoder_norm_{nullptr};
  torch::Tensor places_;  // positional_encoding() of the longest sequence so far
};

/// The sizes of the model of this name.
/// @throws Error{invalid_model_use} if it is not a Transformer
TransformerSize transformer_size(std::string_view name, std::int64_t width);

/// The encoding that the paper adds to vectors: sines and cosines of their positions.
/// @return {length, width}, on the CPU, in double precision
torch::Tensor positional_encoding(std::int64_t length, std::int64_t width);

}  // namespace hpcboot::models
