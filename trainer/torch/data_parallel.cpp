#include "hpcboot/torch/data_parallel.hpp"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "compat_node.hpp"
#include "hpcboot/error.hpp"
#include "on_devices.hpp"
#include "parallel_calls.hpp"
#include "refusal.hpp"
#include "replicas_backward.hpp"

namespace hpcboot {
namespace {

using Tensors = std::vector<at::Tensor>;

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

/// Of each replica that gets one, the parts of all inputs.
std::vector<Tensors> scattered(const Tensors& inputs, std::size_t replicas) {
  std::vector<Tensors> parts;
  for (const at::Tensor& input : inputs) {
    if (!input.defined() || input.dim() == 0 || input.size(0) != inputs[0].size(0)) {
      refuse("inputs of DataParallel that are not batches of one size",
             "tensors whose first dimension is the batch",
             "pass values for the whole batch as numbers, or expand them to the batch");
    }
    const Tensors of_input = input.detach().chunk(static_cast<std::int64_t>(replicas));
    parts.resize(of_input.size());
    for (std::size_t i = 0; i < of_input.size(); ++i) parts[i].push_back(of_input[i]);
  }
  if (parts.empty()) {
    refuse("a forward of DataParallel without a tensor", "an input to split", "pass the batch");
  }
  return parts;
}

/// The outputs of all replicas, put together on the device, without a graph.
Tensors gathered_values(const std::vector<Tensors>& outputs, at::Device device) {
  Tensors together;
  for (std::size_t k = 0; k < outputs[0].size(); ++k) {
    Tensors of_replicas;
    for (const Tensors& own : outputs) {
      if (own.size() != outputs[0].size() || own[k].defined() != outputs[0][k].defined()) {
        refuse("replicas whose outputs have different tensors", "the same structure for each part",
               "make the structure of the output independent of the batch");
      }
      if (own[k].defined()) of_replicas.push_back(own[k].detach().to(device));
    }
    together.push_back(of_replicas.empty() ? at::Tensor() : at::cat(of_replicas));
  }
  return together;
}

}  // namespace

struct ReplicaRunner::Impl {
  std::vector<std::shared_ptr<torch::nn::Module>> replicas;
  std::vector<at::Device> devices;
  std::shared_ptr<ParallelCalls> calls;

  /// Copies the layers' modes, parameters and buffers of the model to the other replicas, and which
  /// parameters are trained. At every forward: some optimizers (torch::optim::SGD) change
  /// parameters without increasing their version, so a change cannot be detected.
  void replicate() {
    const at::NoGradGuard no_gradients;
    const Tensors state = state_of(*replicas[0]);
    const auto layers = replicas[0]->modules();
    on_devices(*calls, devices, devices.size(), [&](std::size_t i) {
      if (i == 0) return;
      const auto own_layers = replicas[i]->modules();
      // A layer after the one that contains it, whose train() also sets it.
      for (std::size_t m = 0; m < layers.size(); ++m)
        own_layers[m]->train(layers[m]->is_training());
      const Tensors own = state_of(*replicas[i]);
      // Hidden from the autograd engine: if two forwards precede the backward of the first, the
      // second writes the same parameters again, and no backward reads the statistics.
      for (std::size_t t = 0; t < state.size(); ++t) {
        own[t].variable_data().copy_(state[t]);
        if (own[t].requires_grad() != state[t].requires_grad()) {
          own[t].set_requires_grad(state[t].requires_grad());
        }
      }
    });
  }
};

ReplicaRunner::ReplicaRunner(std::vector<std::shared_ptr<torch::nn::Module>> replicas,
                             std::vector<at::Device> devices)
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
}
ReplicaRunner::ReplicaRunner(ReplicaRunner&&) noexcept = default;
ReplicaRunner& ReplicaRunner::operator=(ReplicaRunner&&) noexcept = default;
ReplicaRunner::~ReplicaRunner() = default;

Tensors ReplicaRunner::forward(const Tensors& inputs, const Forward& forward) {
  Impl& impl = *impl_;
  const bool with_gradients = at::GradMode::is_enabled();
  std::vector<Tensors> parts = scattered(inputs, impl.devices.size());
  const std::size_t count = parts.size();
  impl.replicate();

  std::vector<bool> input_needs_gradient;
  for (const at::Tensor& input : inputs) {
    input_needs_gradient.push_back(with_gradients && input.requires_grad());
  }
  std::vector<Tensors> outputs(count);
  on_devices(*impl.calls, impl.devices, count, [&](std::size_t i) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      parts[i][k] = parts[i][k].to(impl.devices[i]);
      if (input_needs_gradient[k]) parts[i][k] = parts[i][k].detach().requires_grad_();
    }
    outputs[i] = forward(i, parts[i]);
    for (at::Tensor& output : outputs[i]) {
      if (output.defined() && output.dim() == 0) output = output.view({1});
    }
  });
  Tensors together = gathered_values(outputs, impl.devices[0]);

  // Of the outputs, those that a gradient can come through.
  Tensors differentiable;
  std::vector<Tensors> roots(count);
  for (std::size_t k = 0; k < together.size(); ++k) {
    if (std::none_of(outputs.begin(), outputs.end(), [&](const Tensors& own) {
          return own[k].defined() && own[k].requires_grad();
        })) {
      continue;
    }
    differentiable.push_back(together[k]);
    for (std::size_t i = 0; i < count; ++i) roots[i].push_back(outputs[i][k]);
  }
  if (differentiable.empty()) return together;

  const auto backward = compat::make_node<ReplicasBackward>();
  backward->calls = impl.calls;
  backward->devices = impl.devices;
  backward->outputs = std::move(roots);
  backward->parts = std::move(parts);
  for (std::size_t i = 0; i < count; ++i) {
    backward->parameters.push_back(trained_parameters(*impl.replicas[i]));
  }
  backward->input_needs_gradient = std::move(input_needs_gradient);
  Tensors leaves = inputs;
  for (const at::Tensor& parameter : backward->parameters[0]) leaves.push_back(parameter);
  backward->set_next_edges(torch::autograd::collect_next_edges(leaves));
  for (at::Tensor& output : differentiable) torch::autograd::set_history(output, backward);
  return together;
}

}  // namespace hpcboot
