#pragma once

#include <torch/nn/modules/transformer.h>

#include <cstdint>
#include <string_view>

#include "models/model.hpp"

namespace hpcboot::models {

struct TransformerSize {
  std::int64_t width = 512;  ///< of the vectors of sequences
  std::int64_t heads = 8;
  std::int64_t layers = 6;  ///< of the encoder, and of the decoder
  double dropout = 0.1;
};

/// torch::nn::Transformer with the positional encoding of its paper (Vaswani and others: Attention
/// Is All You Need, 2017): its encoder reads a source, its decoder writes a target, vector by
/// vector, and sees those before. Feed-forward layers are four times as wide as the vectors, as in
/// the paper. Parameters have the names of PyTorch's nn.Transformer, so that weights can be
/// exchanged.
class Transformer : public Model {
 public:
  /// @throws Error{invalid_model_use} if the heads do not divide the width
  explicit Transformer(const TransformerSize& size);

  /// @param inputs the sources, {batch, length, width}, and the targets as the decoder sees them,
  ///        each one vector later, {batch, length, width}
  /// @return the targets, {batch, length, width}
  torch::Tensor forward(Inputs inputs) override;

 private:
  torch::nn::Transformer whole_{nullptr};  // not a submodule, which would change names
};

/// The sizes of the model of this name.
/// @throws Error{invalid_model_use} if it is not a Transformer
TransformerSize transformer_size(std::string_view name, std::int64_t width);

/// The encoding that the paper adds to vectors: sines and cosines of their positions.
/// @return {length, width}, on the CPU, in double precision
torch::Tensor positional_encoding(std::int64_t length, std::int64_t width);

}  // namespace hpcboot::models
