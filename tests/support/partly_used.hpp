#pragma once

#include <torch/nn/modules/linear.h>

namespace hpcboot::testing_support {

/// A module of two layers, one of which its forward does not use.
struct PartlyUsed : torch::nn::Module {
  PartlyUsed()
      : used(register_module("used", torch::nn::Linear(3, 2))),
        unused(register_module("unused", torch::nn::Linear(3, 2))) {}

  torch::Tensor forward(torch::Tensor x) { return used->forward(x); }

  torch::nn::Linear used;
  torch::nn::Linear unused;
};

}  // namespace hpcboot::testing_support
