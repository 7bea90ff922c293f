#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace hpcboot {

/// The state that an optimizer of torch::optim keeps of a parameter.
struct OptimizerState {
  std::vector<at::Tensor*> tensors;  ///< of the parameter's shape; those not in use are undefined
  std::int64_t* steps = nullptr;     ///< null if they are not counted
};

/// References to what `state` contains; none if its type is unknown. Known are those of Adam,
/// AdamW, SGD, Adagrad and RMSprop.
std::optional<OptimizerState> fields_of(torch::optim::OptimizerParamState& state);

}  // namespace hpcboot
