#include "replicas_backward.hpp"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdint>

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
  // Replica 0 runs on this thread: on a GPU, this thread computes that GPU's gradients and must
  // not sleep while another one waits for it.
  on_devices(*calls, devices, count, [&](std::size_t i) {
    const at::AutoGradMode with_gradients(true);
    const Tensors leaves = leaves_of(i);
    Tensors roots;
    Tensors of_roots;
    for (std::size_t k = 0; k < outputs[i].size(); ++k) {
      if (!gradients[k].defined() || !outputs[i][k].requires_grad()) continue;
      roots.push_back(outputs[i][k]);
      of_roots.push_back(part_of(gradients[k], i, k).to(devices[i]));
    }
    results[i].resize(leaves.size());
    if (roots.empty() || leaves.empty()) return;
    results[i] = torch::autograd::grad(roots, leaves, of_roots, /*retain_graph=*/c10::nullopt,
                                       /*create_graph=*/false, /*allow_unused=*/true);
  });
  return gathered(results);
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

}  // namespace hpcboot
