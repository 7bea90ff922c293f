#include "loop/fused_optimizers.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <vector>

#include "loop/adam_kernel.hpp"
#include "torch/compat.hpp"
#include "torch/optimizer_key.hpp"

namespace hpcboot::train {
namespace {

namespace optim = torch::optim;

/// The arguments of one kernel call.
struct Call {
  std::vector<torch::Tensor> parameters, gradients;
  std::vector<torch::Tensor> averages, square_averages;  ///< of the gradients; SGD: the first only
};
/// The calls for a group, by the number of steps of their parameters, which is one per call.
using Calls = std::map<std::int64_t, Call>;

/// One step of an optimizer.
/// @param choose (states, parameter, options, calls): adds the parameter's state to one of the
///        calls, and returns that call
/// @param run (options, steps, call)
template <typename Options, typename Choose, typename Run>
torch::Tensor step_all(optim::Optimizer& optimizer, const optim::Optimizer::LossClosure& closure,
                       Choose choose, Run run) {
  const torch::Tensor loss = closure ? closure() : torch::Tensor();
  const torch::NoGradGuard no_grad;
  for (optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    const auto& options = static_cast<const Options&>(group.options());
    Calls calls;
    for (const torch::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      Call& call = choose(optimizer.state(), parameter, options, calls);
      call.parameters.push_back(parameter);
      call.gradients.push_back(parameter.grad());
    }
    for (const auto& [steps, call] : calls) run(options, steps, call);
  }
  return loss;
}

/// `values`, with elements in the order in memory of those of `parameter`.
torch::Tensor as_stored(const torch::Tensor& values, const torch::Tensor& parameter) {
  if (values.strides() == parameter.strides()) return values;
  return torch::empty_like(parameter).copy_(values);
}

/// The kernel for the CPU.
void run_on_cpu(const AdamStep& how, const Call& call) {
  constexpr std::int64_t kElementsPerTask = 32768;  // as in at::parallel_for's other uses
  for (std::size_t i = 0; i < call.parameters.size(); ++i) {
    const torch::Tensor& parameter = call.parameters[i];
    TORCH_CHECK(parameter.is_non_overlapping_and_dense(),
                "FusedAdam: expected a parameter without gaps in memory");
    const torch::Tensor gradient = as_stored(call.gradients[i], parameter);
    const torch::Tensor average = as_stored(call.averages[i], parameter);
    const torch::Tensor square_average = as_stored(call.square_averages[i], parameter);
    AT_DISPATCH_FLOATING_TYPES(parameter.scalar_type(), "adam_step", [&] {
      // Throws if the type cannot hold it, as torch::optim::Adam does.
      at::Scalar(how.lr / (1 - how.beta1)).to<scalar_t>();
      auto* const weights = parameter.data_ptr<scalar_t>();
      const auto* const slopes = gradient.data_ptr<scalar_t>();
      auto* const averages = average.data_ptr<scalar_t>();
      auto* const squares = square_average.data_ptr<scalar_t>();
      at::parallel_for(0, parameter.numel(), kElementsPerTask,
                       [&](std::int64_t begin, std::int64_t end) {
                         adam_step(how, static_cast<std::size_t>(end - begin), weights + begin,
                                   slopes + begin, averages + begin, squares + begin);
                       });
    });
    if (!average.is_same(call.averages[i])) call.averages[i].copy_(average);
    if (!square_average.is_same(call.square_averages[i])) {
      call.square_averages[i].copy_(square_average);
    }
  }
}

template <typename State, typename Options>
torch::Tensor step_adam(optim::Optimizer& optimizer, const optim::Optimizer::LossClosure& closure,
                        bool decay_apart) {
  const auto choose = [](auto& states, const torch::Tensor& parameter, const Options&,
                         Calls& calls) -> Call& {
    auto& slot = states[key_of(states, parameter)];
    if (!slot) {
      auto fresh = std::make_unique<State>();
      fresh->exp_avg(torch::zeros_like(parameter));
      fresh->exp_avg_sq(torch::zeros_like(parameter));
      slot = std::move(fresh);
    }
    auto& state = static_cast<State&>(*slot);
    state.step(state.step() + 1);
    Call& call = calls[state.step()];
    call.averages.push_back(state.exp_avg());
    call.square_averages.push_back(state.exp_avg_sq());
    return call;
  };
  const auto run = [decay_apart](const Options& o, std::int64_t steps, const Call& call) {
    if (call.parameters.front().is_cpu()) {
      run_on_cpu({o.lr(), std::get<0>(o.betas()), std::get<1>(o.betas()), o.eps(), o.weight_decay(),
                  decay_apart, steps},
                 call);
      return;
    }
    if (decay_apart) at::_foreach_mul_(call.parameters, 1 - o.lr() * o.weight_decay());
    const std::vector<torch::Tensor> counts(
        call.parameters.size(),
        torch::full({}, static_cast<double>(steps),
                    call.parameters.front().options().dtype(torch::kFloat32)));
    at::_fused_adam_(call.parameters, call.gradients, call.averages, call.square_averages, {},
                     counts, o.lr(), std::get<0>(o.betas()), std::get<1>(o.betas()),
                     decay_apart ? 0.0 : o.weight_decay(), o.eps(), /*amsgrad=*/false,
                     /*maximize=*/false);
  };
  return step_all<Options>(optimizer, closure, choose, run);
}

}  // namespace

bool has_fused_kernel(const char* name, c10::DeviceType device) {
  const auto kernel = c10::Dispatcher::singleton().findSchema({name, ""});
  return kernel &&
         kernel->hasKernelForDispatchKey(device == c10::DeviceType::CUDA ? c10::DispatchKey::CUDA
                                                                         : c10::DispatchKey::CPU);
}

torch::Tensor FusedAdam::step(LossClosure closure) {
  return step_adam<optim::AdamParamState, optim::AdamOptions>(*this, closure, false);
}

torch::Tensor FusedAdamW::step(LossClosure closure) {
  return step_adam<optim::AdamWParamState, optim::AdamWOptions>(*this, closure, true);
}

torch::Tensor FusedSgd::step(LossClosure closure) {
  using Options = optim::SGDOptions;
  // SGD distinguishes the first step, which initialises the average, from all others.
  const auto choose = [](auto& states, const torch::Tensor& parameter, const Options& o,
                         Calls& calls) -> Call& {
    if (o.momentum() == 0) return calls[1];
    auto& slot = states[key_of(states, parameter)];
    Call& call = calls[slot ? 1 : 0];
    if (!slot) {
      auto fresh = std::make_unique<optim::SGDParamState>();
      fresh->momentum_buffer(torch::empty_like(parameter));
      slot = std::move(fresh);
    }
    call.averages.push_back(static_cast<optim::SGDParamState&>(*slot).momentum_buffer());
    return call;
  };
  const auto run = [](const Options& o, std::int64_t steps, const Call& call) {
    compat::fused_sgd(call.parameters, call.gradients, call.averages,
                      {o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov()},
                      /*first_step=*/steps == 0);
  };
  return step_all<Options>(*this, closure, choose, run);
}

}  // namespace hpcboot::train
