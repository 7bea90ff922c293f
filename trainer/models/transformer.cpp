#include "models/transformer.hpp"

#include <torch/nn/options/transformer.h>

#include <cmath>
#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot::models {
namespace {

constexpr std::int64_t kFeedForward = 4;  // times the width
constexpr double kLongestWave = 10000;    // over 2 pi

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
                "vectors of " + std::to_string(size.width) + " numbers, and " +
                    std::to_string(size.heads) + " heads",
                "a width that is a multiple of the number of heads",
                "use data of another width, or another model");
  }
  whole_ = torch::nn::Transformer(torch::nn::TransformerOptions()
                                      .d_model(size.width)
                                      .nhead(size.heads)
                                      .num_encoder_layers(size.layers)
                                      .num_decoder_layers(size.layers)
                                      .dim_feedforward(kFeedForward * size.width)
                                      .dropout(size.dropout));
  register_module("encoder", whole_->encoder.ptr());
  register_module("decoder", whole_->decoder.ptr());
}

torch::Tensor Transformer::forward(Inputs inputs) {
  // LibTorch's class takes {length, batch, width}.
  const auto placed = [](const torch::Tensor& sequence) {
    const torch::Tensor places =
        positional_encoding(sequence.size(1), sequence.size(2)).to(sequence.options());
    return (sequence + places).transpose(0, 1);
  };
  const torch::Tensor target = placed(inputs.at(1));
  const std::int64_t length = target.size(0);
  // Vector t of the result may depend on those up to t of the input.
  const torch::Tensor mask =
      torch::full({length, length}, -std::numeric_limits<double>::infinity(), target.options())
          .triu(1);
  return whole_->forward(placed(inputs.at(0)), target, /*src_mask=*/{}, mask).transpose(0, 1);
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
