#include "optimizer_state.hpp"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <initializer_list>

namespace hpcboot {
namespace {

namespace optim = torch::optim;

OptimizerState fields(std::initializer_list<at::Tensor*> tensors, std::int64_t* steps) {
  return {tensors, steps};
}

template <typename AdamState>
OptimizerState fields_of_adam(AdamState& state) {
  return fields({&state.exp_avg(), &state.exp_avg_sq(), &state.max_exp_avg_sq()}, &state.step());
}

}  // namespace

std::optional<OptimizerState> fields_of(optim::OptimizerParamState& state) {
  if (auto* adam = dynamic_cast<optim::AdamParamState*>(&state)) return fields_of_adam(*adam);
  if (auto* adamw = dynamic_cast<optim::AdamWParamState*>(&state)) return fields_of_adam(*adamw);
  if (auto* sgd = dynamic_cast<optim::SGDParamState*>(&state)) {
    return fields({&sgd->momentum_buffer()}, nullptr);
  }
  if (auto* adagrad = dynamic_cast<optim::AdagradParamState*>(&state)) {
    return fields({&adagrad->sum()}, &adagrad->step());
  }
  if (auto* rmsprop = dynamic_cast<optim::RMSpropParamState*>(&state)) {
    return fields({&rmsprop->square_avg(), &rmsprop->momentum_buffer(), &rmsprop->grad_avg()},
                  &rmsprop->step());
  }
  return std::nullopt;
}

}  // namespace hpcboot
