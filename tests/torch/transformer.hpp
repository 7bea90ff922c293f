#pragma once

// A small Transformer whose layers are units of fully_shard().
#include <torch/nn/functional/activation.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/types.h>

#include <cmath>
#include <memory>

#include "hpcboot/torch/fully_shard.hpp"

namespace hpcboot {

struct LayerImpl : torch::nn::Module {
  LayerImpl(std::int64_t size, std::int64_t heads)
      : heads_(heads),
        norm1(register_module("norm1", norm(size))),
        // A bias of the keys would have no gradient but rounding, which Adam scales to a step.
        qkv(register_module(
            "qkv", torch::nn::Linear(torch::nn::LinearOptions(size, 3 * size).bias(false)))),
        out(register_module("out", torch::nn::Linear(size, size))),
        norm2(register_module("norm2", norm(size))),
        up(register_module("up", torch::nn::Linear(size, 4 * size))),
        down(register_module("down", torch::nn::Linear(4 * size, size))) {}

  static torch::nn::LayerNorm norm(std::int64_t size) {
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({size}));
  }

  /// @param x {batch, length, size}
  torch::Tensor forward(torch::Tensor x) {
    const auto split = qkv->forward(norm1->forward(x)).chunk(3, 2);
    const auto heads = [&](const torch::Tensor& part) {
      return part.reshape({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
    };
    const torch::Tensor q = heads(split[0]), k = heads(split[1]), v = heads(split[2]);
    const torch::Tensor scores = q.matmul(k.transpose(2, 3)) / std::sqrt(double(q.size(3)));
    const torch::Tensor mixed = scores.softmax(-1).matmul(v).transpose(1, 2).reshape(x.sizes());
    x = x + out->forward(mixed);
    return x + down->forward(torch::gelu(up->forward(norm2->forward(x))));
  }

  std::int64_t heads_;
  torch::nn::LayerNorm norm1;
  torch::nn::Linear qkv, out;
  torch::nn::LayerNorm norm2;
  torch::nn::Linear up, down;
};
TORCH_MODULE(Layer);

struct Transformer : torch::nn::Module {
  Transformer(std::int64_t size, std::int64_t layers, std::int64_t words)
      : embedding(register_module("embedding", torch::nn::Embedding(words, size))),
        body(register_module("body", torch::nn::Sequential())),
        head(register_module("head", torch::nn::Linear(size, words))) {
    for (std::int64_t i = 0; i < layers; ++i) body->push_back(shard_unit(Layer(size, 4)));
  }

  /// @param text {batch, length} @return {batch, length, words}
  torch::Tensor forward(torch::Tensor text) {
    return head->forward(body->forward(embedding->forward(text)));
  }

  torch::nn::Embedding embedding;
  torch::nn::Sequential body;
  torch::nn::Linear head;
};

inline torch::Tensor loss_of_text(const torch::Tensor& scores, const torch::Tensor& text) {
  return torch::nn::functional::cross_entropy(scores.flatten(0, 1).to(torch::kFloat),
                                              text.flatten());
}

}  // namespace hpcboot
