#include "optimizer_state.hpp"

#include <ATen/Functions.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <initializer_list>

namespace hpcboot {
namespace {

namespace optim = torch::optim;

struct Field {
  const char* name;
  at::Tensor* tensor;
};

OptimizerState fields(std::initializer_list<Field> all, std::int64_t* steps) {
  OptimizerState state;
  for (const Field& field : all) {
    state.tensors.push_back(field.tensor);
    state.names.push_back(field.name);
  }
  state.steps = steps;
  return state;
}

template <typename AdamState>
OptimizerState fields_of_adam(AdamState& state) {
  return fields({{"exp_avg", &state.exp_avg()},
                 {"exp_avg_sq", &state.exp_avg_sq()},
                 {"max_exp_avg_sq", &state.max_exp_avg_sq()}},
                &state.step());
}

template <typename Kind, typename State>
bool make_if(const optim::Optimizer& optimizer,
             std::unique_ptr<optim::OptimizerParamState>& state) {
  if (dynamic_cast<const Kind*>(&optimizer) == nullptr) return false;
  state = std::make_unique<State>();
  return true;
}

}  // namespace

std::optional<OptimizerState> fields_of(optim::OptimizerParamState& state) {
  if (auto* adam = dynamic_cast<optim::AdamParamState*>(&state)) return fields_of_adam(*adam);
  if (auto* adamw = dynamic_cast<optim::AdamWParamState*>(&state)) return fields_of_adam(*adamw);
  if (auto* sgd = dynamic_cast<optim::SGDParamState*>(&state)) {
    return fields({{"momentum", &sgd->momentum_buffer()}}, nullptr);
  }
  if (auto* adagrad = dynamic_cast<optim::AdagradParamState*>(&state)) {
    return fields({{"sum", &adagrad->sum()}}, &adagrad->step());
  }
  if (auto* rmsprop = dynamic_cast<optim::RMSpropParamState*>(&state)) {
    return fields({{"square_avg", &rmsprop->square_avg()},
                   {"momentum_buffer", &rmsprop->momentum_buffer()},
                   {"grad_avg", &rmsprop->grad_avg()}},
                  &rmsprop->step());
  }
  return std::nullopt;
}

void list_state(optim::OptimizerParamState& state, const std::string& prefix,
                std::vector<NamedTensor>& list) {
  const OptimizerState fields = *fields_of(state);
  if (fields.steps != nullptr) {
    list.push_back({prefix + kStepsField, at::scalar_tensor(*fields.steps, at::kLong)});
  }
  for (std::size_t i = 0; i < fields.tensors.size(); ++i) {
    if (!fields.tensors[i]->defined()) continue;
    list.push_back({prefix + fields.names[i], *fields.tensors[i]});
  }
}

std::unique_ptr<optim::OptimizerParamState> new_state_of(const optim::Optimizer& optimizer) {
  std::unique_ptr<optim::OptimizerParamState> state;
  static_cast<void>(make_if<optim::Adam, optim::AdamParamState>(optimizer, state) ||
                    make_if<optim::AdamW, optim::AdamWParamState>(optimizer, state) ||
                    make_if<optim::SGD, optim::SGDParamState>(optimizer, state) ||
                    make_if<optim::Adagrad, optim::AdagradParamState>(optimizer, state) ||
                    make_if<optim::RMSprop, optim::RMSpropParamState>(optimizer, state));
  return state;
}

}  // namespace hpcboot
