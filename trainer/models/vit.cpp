#include "models/vit.hpp"

#include <torch/nn/init.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/activation_checkpoint.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "torch/compat.hpp"

namespace hpcboot::models {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kPatch = 16;  // pixels, width and height

nn::LayerNorm normalisation(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-6));
}

/// The layer's forward() adds the bias in a kernel of its own, unless the input has two dimensions.
torch::Tensor product(const nn::Linear& layer, const torch::Tensor& input) {
  return torch::linear(input, layer->weight, layer->bias);
}

/// Multi-head attention of tokens {batch, tokens, width} to each other, with the parameters of
/// PyTorch's MultiheadAttention.
class SelfAttentionImpl : public nn::Module {
 public:
  SelfAttentionImpl(std::int64_t width, std::int64_t heads)
      : heads_(heads),
        in_proj_weight_(register_parameter("in_proj_weight", torch::empty({3 * width, width}))),
        in_proj_bias_(register_parameter("in_proj_bias", torch::zeros({3 * width}))),
        out_proj_(register_module("out_proj", nn::Linear(width, width))) {
    nn::init::xavier_uniform_(in_proj_weight_);
    nn::init::zeros_(out_proj_->bias);
  }

  torch::Tensor forward(torch::Tensor x) {
    const auto parts = torch::linear(x, in_proj_weight_, in_proj_bias_).chunk(3, -1);
    const auto heads = [&](const torch::Tensor& part) {
      return part.view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
    };
    const torch::Tensor mixed =
        compat::attention(heads(parts[0]), heads(parts[1]), heads(parts[2]));
    return product(out_proj_, mixed.transpose(1, 2).reshape(x.sizes()));
  }

 private:
  std::int64_t heads_;
  torch::Tensor in_proj_weight_;  // of queries, keys and values
  torch::Tensor in_proj_bias_;
  nn::Linear out_proj_;
};
TORCH_MODULE(SelfAttention);

class MlpImpl : public nn::Module {
 public:
  MlpImpl(std::int64_t width, std::int64_t hidden)
      : up_(register_module("0", nn::Linear(width, hidden))),
        down_(register_module("3", nn::Linear(hidden, width))) {
    for (const nn::Linear& layer : {up_, down_}) {
      nn::init::xavier_uniform_(layer->weight);
      nn::init::normal_(layer->bias, 0, 1e-6);
    }
  }

  torch::Tensor forward(torch::Tensor x) { return product(down_, torch::gelu(product(up_, x))); }

 private:
  nn::Linear up_;
  nn::Linear down_;
};
TORCH_MODULE(Mlp);

class EncoderLayerImpl : public nn::Module {
 public:
  explicit EncoderLayerImpl(const ViTShape& shape)
      : ln_1_(register_module("ln_1", normalisation(shape.width))),
        self_attention_(register_module("self_attention", SelfAttention(shape.width, shape.heads))),
        ln_2_(register_module("ln_2", normalisation(shape.width))),
        mlp_(register_module("mlp", Mlp(shape.width, shape.mlp))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = x + self_attention_->forward(ln_1_->forward(x));
    return x + mlp_->forward(ln_2_->forward(x));
  }

 private:
  nn::LayerNorm ln_1_;
  SelfAttention self_attention_;
  nn::LayerNorm ln_2_;
  Mlp mlp_;
};
TORCH_MODULE(EncoderLayer);

std::string pixels(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width) + " pixels";
}

/// A multiple of the patch's size that is near this size.
std::int64_t nearest(std::int64_t size) {
  return std::max<std::int64_t>(1, (size + kPatch / 2) / kPatch) * kPatch;
}

/// With the class token.
std::int64_t tokens_of(std::int64_t image_size) {
  if (image_size < kPatch || image_size % kPatch != 0) {
    throw Error(ErrorCode::invalid_model_use,
                "a Vision Transformer for images of " + pixels(image_size, image_size),
                "a multiple of its patches' " + std::to_string(kPatch) + " pixels",
                "choose an image size such as " + std::to_string(nearest(image_size)));
  }
  const std::int64_t patches = image_size / kPatch;
  return patches * patches + 1;
}

}  // namespace

class ViT::EncoderImpl : public nn::Module {
 public:
  EncoderImpl(const ViTShape& shape, std::int64_t tokens, bool checkpointed)
      : pos_embedding_(
            register_parameter("pos_embedding", torch::empty({1, tokens, shape.width}))) {
    nn::init::normal_(pos_embedding_, 0, 0.02);
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      const std::string name = "encoder_layer_" + std::to_string(i);
      const EncoderLayer layer(shape);
      if (checkpointed) {
        layers_->push_back(name, shard_unit(hpcboot::checkpointed(layer)));
      } else {
        layers_->push_back(name, shard_unit(layer));
      }
    }
    register_module("layers", layers_);
    ln_ = register_module("ln", normalisation(shape.width));
  }

  torch::Tensor forward(torch::Tensor x) {
    return ln_->forward(layers_->forward(x + pos_embedding_));
  }

 private:
  torch::Tensor pos_embedding_;
  nn::Sequential layers_;
  nn::LayerNorm ln_{nullptr};
};

ViT::ViT(const ViTShape& shape, const ImageModelOptions& options)
    : image_size_(options.image_size),
      class_token_(register_parameter("class_token", torch::zeros({1, 1, shape.width}))),
      conv_proj_(register_module(
          "conv_proj",
          nn::Conv2d(nn::Conv2dOptions(options.channels, shape.width, kPatch).stride(kPatch)))),
      encoder_(register_module(
          "encoder", Encoder(shape, tokens_of(options.image_size), options.checkpointed))),
      heads_(register_module(
          "heads", nn::Sequential({{"head", nn::Linear(shape.width, options.classes)}}))) {
  // Torchvision truncates this distribution at 2, which is beyond 30 standard deviations.
  const auto fan_in = static_cast<double>(options.channels * kPatch * kPatch);
  nn::init::normal_(conv_proj_->weight, 0, std::sqrt(1 / fan_in));
  nn::init::zeros_(conv_proj_->bias);
  for (torch::Tensor& parameter : heads_->parameters()) nn::init::zeros_(parameter);
}

torch::Tensor ViT::forward(Inputs inputs) {
  const torch::Tensor& images = inputs.front();
  if (images.size(2) != image_size_ || images.size(3) != image_size_) {
    throw Error(ErrorCode::invalid_model_use, "images of " + pixels(images.size(2), images.size(3)),
                pixels(image_size_, image_size_) + ", for which this Vision Transformer was made",
                "resize the images, or make the model for their size");
  }
  const torch::Tensor patches = conv_proj_->forward(images).flatten(2).transpose(1, 2);
  const torch::Tensor x = torch::cat({class_token_.expand({images.size(0), -1, -1}), patches}, 1);
  return heads_->forward(encoder_->forward(x).select(1, 0));
}

}  // namespace hpcboot::models
