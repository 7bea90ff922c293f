#include "models/transformer.hpp"

#include <torch/nn/init.h>
#include <torch/nn/modules/container/modulelist.h>

#include <cmath>
#include <limits>
#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot::models {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kFeedForward = 4;  // times the width
constexpr double kLongestWave = 10000;    // over 2 pi

/// Adds an encoder or a decoder to the model: layers, and the normalisation of their result.
/// @tparam Options of a Layer
/// @return the normalisation
template <typename Layer, typename Options, typename Units>
nn::LayerNorm register_stack(nn::Module& model, const char* name, const TransformerSize& size,
                             Units& units) {
  const auto options = Options(size.width, size.heads)
                           .dim_feedforward(kFeedForward * size.width)
                           .dropout(size.dropout);
  nn::ModuleList layers;
  for (std::int64_t i = 0; i < size.layers; ++i) {
    units.push_back(shard_unit(Layer(options)));
    layers->push_back(units.back());
  }
  const auto stack = model.register_module(name, std::make_shared<nn::Module>(name));
  stack->register_module("layers", layers);
  return stack->register_module("norm", nn::LayerNorm(nn::LayerNormOptions({size.width})));
}

}  // namespace

TransformerSize transformer_size(std::string_view name, std::int64_t width) {
  TransformerSize size;
  size.width = width;
  if (name == "transformer") return size;
  if (name == "transformer_small") {
    size.heads = 4;
    size.layers = 2;
    return size;
  }
  throw Error(ErrorCode::invalid_model_use, "model '" + std::string(name) + "' for sequences",
              "transformer or transformer_small", "choose one of these");
}

Transformer::Transformer(const TransformerSize& size) {
  if (size.width % size.heads != 0) {
    throw Error(ErrorCode::invalid_model_use,
                "vectors of width " + std::to_string(size.width) + ", and " +
                    std::to_string(size.heads) + " heads",
                "a width that is a multiple of the number of heads",
                "use data of another width, or another model");
  }
  encoder_norm_ = register_stack<nn::TransformerEncoderLayer, nn::TransformerEncoderLayerOptions>(
      *this, "encoder", size, encoder_);
  decoder_norm_ = register_stack<nn::TransformerDecoderLayer, nn::TransformerDecoderLayerOptions>(
      *this, "decoder", size, decoder_);
  for (torch::Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
  }
}

torch::Tensor Transformer::placed(const torch::Tensor& sequence) {
  const std::int64_t length = sequence.size(1);
  const bool fits = places_.defined() && places_.size(0) >= length &&
                    places_.device() == sequence.device() && places_.dtype() == sequence.dtype();
  if (!fits) places_ = positional_encoding(length, sequence.size(2)).to(sequence.options());
  return (sequence + places_.narrow(0, 0, length)).transpose(0, 1);
}

torch::Tensor Transformer::forward(Inputs inputs) {
  torch::Tensor memory = placed(inputs.at(0));
  for (const auto& layer : encoder_) memory = (*layer)(memory);
  memory = encoder_norm_->forward(memory);

  torch::Tensor target = placed(inputs.at(1));
  const std::int64_t length = target.size(0);
  // Vector t of the result may depend on those up to t of the input.
  const torch::Tensor mask =
      torch::full({length, length}, -std::numeric_limits<double>::infinity(), target.options())
          .triu(1);
  for (const auto& layer : decoder_) target = (*layer)(target, memory, mask);
  return decoder_norm_->forward(target).transpose(0, 1);
}

torch::Tensor positional_encoding(std::int64_t length, std::int64_t width) {
  const torch::Tensor positions = torch::arange(length, torch::kFloat64).unsqueeze(1);
  const torch::Tensor even = torch::arange(0, width, 2, torch::kFloat64);
  const torch::Tensor angles =
      positions * torch::exp(even * (-std::log(kLongestWave) / static_cast<double>(width)));
  // Sines at even places, cosines at odd ones; of an odd width, the last cosine is left out.
  return torch::stack({angles.sin(), angles.cos()}, 2).flatten(1).narrow(1, 0, width);
}

}  // namespace hpcboot::models
