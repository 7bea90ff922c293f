#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>
#include <utility>
#include <vector>

namespace hpcboot {

/// What DistributedDataParallel exchanges between the ranks: all of a module but the parameters and
/// buffers that it is told to ignore. A parameter that layers share is one, with its first name.
struct ExchangedParameters {
  std::vector<at::Tensor> trained;
  std::vector<std::string> names;  ///< of the trained ones
  std::vector<bool> sparse;        ///< which of the trained ones get sparse gradients
  std::vector<std::pair<std::string, at::Tensor>> frozen;
};

/// @throws Error{invalid_model_use} if the module has nothing of an ignored name, or no parameter
///         that is trained and not ignored
ExchangedParameters exchanged_parameters(const torch::nn::Module& module,
                                         const std::vector<std::string>& ignored);

std::vector<at::Tensor> exchanged_buffers(const torch::nn::Module& module,
                                          const std::vector<std::string>& ignored);

}  // namespace hpcboot
