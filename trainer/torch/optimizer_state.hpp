#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/torch/sharded_checkpoint.hpp"

namespace hpcboot {

/// The name of OptimizerState::steps in checkpoints.
inline constexpr const char* kStepsField = "step";

/// The state that an optimizer of torch::optim keeps of a parameter.
struct OptimizerState {
  std::vector<at::Tensor*> tensors;  ///< of the parameter's shape; those not in use are undefined
  std::vector<const char*> names;    ///< of the tensors: "exp_avg"
  std::int64_t* steps = nullptr;     ///< null if they are not counted
};

/// References to what `state` contains; none if its type is unknown. Known are those of Adam,
/// AdamW, SGD, Adagrad and RMSprop.
std::optional<OptimizerState> fields_of(torch::optim::OptimizerParamState& state);

/// Appends what a state contains, as tensors named "<prefix><field>".
/// @param state of a known type
void list_state(torch::optim::OptimizerParamState& state, const std::string& prefix,
                std::vector<NamedTensor>& list);

/// An empty state of the kind that this optimizer keeps; null if its type is unknown.
std::unique_ptr<torch::optim::OptimizerParamState> new_state_of(
    const torch::optim::Optimizer& optimizer);

}  // namespace hpcboot
