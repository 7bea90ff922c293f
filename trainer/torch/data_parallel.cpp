#include "hpcboot/torch/data_parallel.hpp"

#include <ATen/Functions.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "hpcboot/error.hpp"
#include "parallel_calls.hpp"

namespace hpcboot {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Calls on the replicas' threads, with the caller's gradient mode and the replica's device.
void on_devices(ParallelCalls& calls, const std::vector<at::Device>& devices, std::size_t count,
                const std::function<void(std::size_t)>& call) {
  const at::ThreadLocalState state;
  calls.run(count, [&](std::size_t replica) {
    const at::ThreadLocalStateGuard restored(state);
    const c10::DeviceGuard current(devices[replica]);
    call(replica);
  });
}

Tensors trained_parameters(const torch::nn::Module& module) {
  Tensors trained;
  for (const at::Tensor& parameter : module.parameters()) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  return trained;
}

/// Parameters and buffers.
Tensors state_of(const torch::nn::Module& module) {
  Tensors state = module.parameters();
  const Tensors buffers = module.buffers();
  state.insert(state.end(), buffers.begin(), buffers.end());
  return state;
}

/// The backward of all replicas: one node in the caller's graph, behind which each replica has its
/// own graph. (A single graph over CPU replicas would be traversed by one thread.)
struct ReplicasBackward : torch::autograd::Node {
  std::shared_ptr<ParallelCalls> calls;
  std::vector<at::Device> devices;
  Tensors outputs;                  // of each replica
  Tensors parts;                    // of the input, leaves of the replicas' graphs
  std::vector<Tensors> parameters;  // of each replica
  bool input_needs_gradient = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const at::Tensor& gradient = gradients[0];
    const std::size_t count = outputs.size();
    std::vector<Tensors> results(count);
    // Replica 0 runs on this thread: on a GPU, this thread computes that GPU's gradients and must
    // not sleep while another one waits for it.
    on_devices(*calls, devices, count, [&](std::size_t i) {
      const at::AutoGradMode with_gradients(true);
      Tensors leaves = parameters[i];
      if (input_needs_gradient) leaves.push_back(parts[i]);
      const at::Tensor own = part_of(gradient, i).to(devices[i]);
      results[i] = torch::autograd::grad({outputs[i]}, leaves, {own}, /*retain_graph=*/c10::nullopt,
                                         /*create_graph=*/false, /*allow_unused=*/true);
    });
    return gathered(results);
  }

  void release_variables() override {
    outputs.clear();
    parts.clear();
  }

 private:
  at::Tensor part_of(const at::Tensor& gradient, std::size_t replica) const {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < replica; ++i) begin += outputs[i].size(0);
    return gradient.narrow(0, begin, outputs[replica].size(0));
  }

  /// The gradient of the input, then those of the parameters, summed in the order of the replicas.
  torch::autograd::variable_list gathered(const std::vector<Tensors>& results) const {
    const at::NoGradGuard no_gradients;
    torch::autograd::variable_list sums(1);
    if (input_needs_gradient) {
      Tensors of_parts;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const at::Tensor& one = results[i].back();
        of_parts.push_back((one.defined() ? one : at::zeros_like(parts[i])).to(devices[0]));
      }
      sums[0] = at::cat(of_parts);
    }
    for (std::size_t p = 0; p < parameters[0].size(); ++p) {
      at::Tensor sum = results[0][p];
      for (std::size_t i = 1; i < results.size(); ++i) {
        const at::Tensor& other = results[i][p];
        if (!other.defined()) continue;
        sum = sum.defined() ? sum.add_(other.to(devices[0])) : other.to(devices[0]);
      }
      sums.push_back(sum);
    }
    return sums;
  }
};

}  // namespace

struct ReplicaRunner::Impl {
  std::vector<std::shared_ptr<torch::nn::Module>> replicas;
  std::vector<at::Device> devices;
  Forward forward;
  std::shared_ptr<ParallelCalls> calls;

  /// Copies the model's mode, parameters and buffers to the other replicas. At every forward: some
  /// optimizers (torch::optim::SGD) change parameters without increasing their version, so a change
  /// cannot be detected.
  void replicate() {
    const at::NoGradGuard no_gradients;
    const Tensors state = state_of(*replicas[0]);
    on_devices(*calls, devices, devices.size(), [&](std::size_t i) {
      if (i == 0) return;
      replicas[i]->train(replicas[0]->is_training());
      const Tensors own = state_of(*replicas[i]);
      // Hidden from the autograd engine: if two forwards precede the backward of the first, the
      // second writes the same parameters again, and no backward reads the statistics.
      for (std::size_t t = 0; t < state.size(); ++t) own[t].variable_data().copy_(state[t]);
    });
  }
};

ReplicaRunner::ReplicaRunner(std::vector<std::shared_ptr<torch::nn::Module>> replicas,
                             std::vector<at::Device> devices, Forward forward)
    : impl_(std::make_unique<Impl>()) {
  if (replicas.empty() || replicas.size() != devices.size()) {
    throw Error(ErrorCode::invalid_model_use,
                std::to_string(replicas.size()) + " replicas for " +
                    std::to_string(devices.size()) + " devices",
                "one replica per device, and at least one device", "name the devices to train on");
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas[i]->to(devices[i]);
    const Tensors state = state_of(*replicas[i]);
    const auto same = [](const at::Tensor& a, const at::Tensor& b) {
      return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
             a.requires_grad() == b.requires_grad();
    };
    const Tensors expected = state_of(*replicas[0]);
    if (!std::equal(state.begin(), state.end(), expected.begin(), expected.end(), same)) {
      throw Error(
          ErrorCode::invalid_model_use,
          "replica " + std::to_string(i) + " differs from the first in its parameters or buffers",
          "replicas of one model", "return the same module from each call of `make`");
    }
  }
  impl_->calls = std::make_shared<ParallelCalls>(devices.size());
  impl_->replicas = std::move(replicas);
  impl_->devices = std::move(devices);
  impl_->forward = std::move(forward);
}
ReplicaRunner::ReplicaRunner(ReplicaRunner&&) noexcept = default;
ReplicaRunner& ReplicaRunner::operator=(ReplicaRunner&&) noexcept = default;
ReplicaRunner::~ReplicaRunner() = default;

at::Tensor ReplicaRunner::forward(const at::Tensor& input) {
  Impl& impl = *impl_;
  const bool with_gradients = at::GradMode::is_enabled();
  Tensors parts = input.detach().chunk(static_cast<std::int64_t>(impl.devices.size()));
  const std::size_t count = parts.size();
  impl.replicate();

  Tensors outputs(count);
  on_devices(*impl.calls, impl.devices, count, [&](std::size_t i) {
    parts[i] = parts[i].to(impl.devices[i]);
    if (with_gradients && input.requires_grad()) parts[i] = parts[i].detach().requires_grad_();
    outputs[i] = impl.forward(i, parts[i]);
  });
  Tensors gathered;
  for (const at::Tensor& output : outputs) {
    gathered.push_back(output.detach().to(impl.devices[0]));
  }
  at::Tensor output = at::cat(gathered);
  const bool differentiable = std::any_of(
      outputs.begin(), outputs.end(), [](const at::Tensor& one) { return one.requires_grad(); });
  if (!differentiable) return output;

  const auto backward =
      std::shared_ptr<ReplicasBackward>(new ReplicasBackward, torch::autograd::deleteNode);
  backward->calls = impl.calls;
  backward->devices = impl.devices;
  backward->outputs = std::move(outputs);
  backward->parts = std::move(parts);
  for (std::size_t i = 0; i < count; ++i) {
    backward->parameters.push_back(trained_parameters(*impl.replicas[i]));
  }
  backward->input_needs_gradient = input.requires_grad();
  Tensors leaves{input};
  for (const at::Tensor& parameter : backward->parameters[0]) leaves.push_back(parameter);
  backward->set_next_edges(torch::autograd::collect_next_edges(leaves));
  torch::autograd::set_history(output, backward);
  return output;
}

}  // namespace hpcboot
