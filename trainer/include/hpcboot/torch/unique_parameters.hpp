#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <vector>

namespace hpcboot {

/// The module's parameters, each once, as in Python. LibTorch's parameters() has a parameter that
/// layers share once for each of them, and its optimizers then step it as often:
///
///     torch::optim::SGD optimizer(hpcboot::unique_parameters(*model), 0.1);
std::vector<at::Tensor> unique_parameters(const torch::nn::Module& module);

}  // namespace hpcboot
