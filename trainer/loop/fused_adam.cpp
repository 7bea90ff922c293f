#include "loop/fused_adam.hpp"

#include <ATen/Functions.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <vector>

#include "loop/optimizer_key.hpp"

namespace hpcboot::train {
namespace {

template <typename State, typename States>
State& state_of(States& states, const torch::Tensor& parameter) {
  auto& slot = states[key_of(states, parameter)];
  if (!slot) {
    auto fresh = std::make_unique<State>();
    fresh->exp_avg(torch::zeros_like(parameter));
    fresh->exp_avg_sq(torch::zeros_like(parameter));
    slot = std::move(fresh);
  }
  return static_cast<State&>(*slot);
}

/// What the kernel takes, of parameters that have made equally many steps.
struct Lists {
  std::vector<torch::Tensor> parameters, gradients, averages, square_averages;
};

template <typename State, typename Options, typename States>
void step_all(std::vector<torch::optim::OptimizerParamGroup>& groups, States& states,
              bool decay_apart) {
  const torch::NoGradGuard no_grad;
  for (torch::optim::OptimizerParamGroup& group : groups) {
    const auto& o = static_cast<const Options&>(group.options());
    std::map<std::int64_t, Lists> by_step;
    for (const torch::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      State& state = state_of<State>(states, parameter);
      state.step(state.step() + 1);
      Lists& lists = by_step[state.step()];
      lists.parameters.push_back(parameter);
      lists.gradients.push_back(parameter.grad());
      lists.averages.push_back(state.exp_avg());
      lists.square_averages.push_back(state.exp_avg_sq());
    }
    for (auto& [step, lists] : by_step) {
      if (decay_apart) at::_foreach_mul_(lists.parameters, 1 - o.lr() * o.weight_decay());
      const std::vector<torch::Tensor> steps(
          lists.parameters.size(),
          torch::full({}, static_cast<double>(step),
                      lists.parameters.front().options().dtype(torch::kFloat32)));
      at::_fused_adam_(lists.parameters, lists.gradients, lists.averages, lists.square_averages, {},
                       steps, o.lr(), std::get<0>(o.betas()), std::get<1>(o.betas()),
                       decay_apart ? 0.0 : o.weight_decay(), o.eps(), /*amsgrad=*/false,
                       /*maximize=*/false);
    }
  }
}

}  // namespace

torch::Tensor FusedAdam::step(LossClosure closure) {
  const torch::Tensor loss = closure ? closure() : torch::Tensor();
  step_all<torch::optim::AdamParamState, torch::optim::AdamOptions>(param_groups(), state(), false);
  return loss;
}

torch::Tensor FusedAdamW::step(LossClosure closure) {
  const torch::Tensor loss = closure ? closure() : torch::Tensor();
  step_all<torch::optim::AdamWParamState, torch::optim::AdamWOptions>(param_groups(), state(),
                                                                      true);
  return loss;
}

}  // namespace hpcboot::train
