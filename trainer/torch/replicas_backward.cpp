#include "replicas_backward.hpp"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdint>
#include <utility>

#include "hpcboot/error.hpp"
#include "on_devices.hpp"

namespace hpcboot {

using Tensors = ReplicasBackward::Tensors;

torch::autograd::variable_list ReplicasBackward::apply(torch::autograd::variable_list&& gradients) {
  if (outputs.empty()) {
    throw Error(ErrorCode::invalid_model_use, "a second backward after one forward of DataParallel",
                "one backward", "call forward again, or add the losses before backward");
  }
  if (at::GradMode::is_enabled()) {
    throw Error(ErrorCode::invalid_model_use, "create_graph in a backward through DataParallel",
                "a backward without a graph", "use one device, or DistributedDataParallel");
  }
  const std::size_t count = outputs.size();
  std::vector<Tensors> results(count);
  if (devices[0].is_cuda()) {
    // The engine has a thread for each GPU, which may be this one, so that a pass on another thread
    // would wait for this one. It runs the graphs of all GPUs at once.
    Pass all;
    for (std::size_t i = 0; i < count; ++i) all += pass_of(i, gradients);
    Tensors of_all = run(all);
    auto next = of_all.begin();
    for (std::size_t i = 0; i < count; ++i) {
      results[i].resize(leaves_of(i).size());
      for (at::Tensor& result : results[i]) result = std::move(*next++);
    }
  } else {
    on_devices(*calls, devices, count,
               [&](std::size_t i) { results[i] = run(pass_of(i, gradients)); });
  }
  return gathered(results);
}

ReplicasBackward::Pass& ReplicasBackward::Pass::operator+=(const Pass& other) {
  roots.insert(roots.end(), other.roots.begin(), other.roots.end());
  of_roots.insert(of_roots.end(), other.of_roots.begin(), other.of_roots.end());
  leaves.insert(leaves.end(), other.leaves.begin(), other.leaves.end());
  return *this;
}

ReplicasBackward::Pass ReplicasBackward::pass_of(std::size_t replica,
                                                 const Tensors& gradients) const {
  Pass pass;
  pass.leaves = leaves_of(replica);
  for (std::size_t k = 0; k < outputs[replica].size(); ++k) {
    if (!gradients[k].defined() || !outputs[replica][k].requires_grad()) continue;
    pass.roots.push_back(outputs[replica][k]);
    pass.of_roots.push_back(part_of(gradients[k], replica, k).to(devices[replica]));
  }
  return pass;
}

Tensors ReplicasBackward::run(const Pass& pass) {
  if (pass.roots.empty() || pass.leaves.empty()) return Tensors(pass.leaves.size());
  const at::AutoGradMode with_gradients(true);
  return torch::autograd::grad(pass.roots, pass.leaves, pass.of_roots,
                               /*retain_graph=*/c10::nullopt, /*create_graph=*/false,
                               /*allow_unused=*/true);
}

void ReplicasBackward::release_variables() {
  outputs.clear();
  parts.clear();
}

Tensors ReplicasBackward::leaves_of(std::size_t replica) const {
  Tensors leaves = parameters[replica];
  for (std::size_t k = 0; k < parts[replica].size(); ++k) {
    if (input_needs_gradient[k]) leaves.push_back(parts[replica][k]);
  }
  return leaves;
}

at::Tensor ReplicasBackward::part_of(const at::Tensor& gradient, std::size_t replica,
                                     std::size_t output) const {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < replica; ++i) begin += outputs[i][output].size(0);
  return gradient.narrow(0, begin, outputs[replica][output].size(0));
}

torch::autograd::variable_list ReplicasBackward::gathered(
    const std::vector<Tensors>& results) const {
  const at::NoGradGuard no_gradients;
  torch::autograd::variable_list sums(input_needs_gradient.size());
  std::size_t next = parameters[0].size();
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (!input_needs_gradient[k]) continue;
    Tensors of_parts;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const at::Tensor& one = results[i][next];
      of_parts.push_back((one.defined() ? one : at::zeros_like(parts[i][k])).to(devices[0]));
    }
    sums[k] = at::cat(of_parts);
    ++next;
  }
  for (std::size_t p = 0; p < parameters[0].size(); ++p) {
    at::Tensor sum;
    for (const Tensors& of_replica : results) {
      if (!of_replica[p].defined()) continue;
      const at::Tensor one = of_replica[p].to(devices[0]);
      // Not in place: a gradient may be that of two parameters.
      sum = sum.defined() ? sum.add(one) : one;
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace hpcboot
