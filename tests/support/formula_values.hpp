#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

namespace hpcboot {

/// Numbers from -1 to 1 in fp64 that look random, the same on every machine; as formula() in
/// torch_reference.py.
inline torch::Tensor formula_values(at::IntArrayRef shape, const std::string& name) {
  const auto sum = std::accumulate(name.begin(), name.end(), std::int64_t{0});
  torch::Tensor index = torch::arange(c10::multiply_integers(shape), torch::kInt64);
  index = (31 * index * index + 17 * index + sum) % 10007;
  return (index.to(torch::kDouble) / 10007 * 2 - 1).reshape(shape);
}

/// Fills a parameter or a buffer by its name; as fill() in torch_reference.py.
inline void fill_by_formula(const std::string& name, torch::Tensor tensor) {
  if (tensor.dim() == 0) return;  // a number of batches
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  };
  torch::Tensor values = formula_values(tensor.sizes(), name);
  if (tensor.dim() == 1) {
    values = 0.1 * values + (ends_with("weight") || ends_with("running_var") ? 1 : 0);
  } else if (tensor.size(0) != 1) {
    values *=
        std::sqrt(3.0 * static_cast<double>(tensor.size(0)) / static_cast<double>(tensor.numel()));
  }
  tensor.copy_(values);
}

/// Fills all parameters and buffers, in fp64.
inline void fill_by_formula(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  module.to(torch::kFloat64);
  for (const auto& item : module.named_parameters()) fill_by_formula(item.key(), item.value());
  for (const auto& item : module.named_buffers()) fill_by_formula(item.key(), item.value());
}

/// The largest difference, divided by the largest element of the expected tensor.
inline double relative_difference(const torch::Tensor& found, const torch::Tensor& expected) {
  const torch::Tensor difference = (found.to(torch::kDouble) - expected.to(torch::kDouble)).abs();
  return difference.max().item<double>() /
         std::max(expected.to(torch::kDouble).abs().max().item<double>(), 1e-30);
}

}  // namespace hpcboot
