#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "parallel_calls.hpp"

namespace hpcboot {

/// The backward of all replicas: one node in the caller's graph, behind which each replica has its
/// own graph. (One call of the engine for all CPU replicas would use one thread.)
struct ReplicasBackward : torch::autograd::Node {
  using Tensors = std::vector<at::Tensor>;

  std::shared_ptr<ParallelCalls> calls;
  std::vector<at::Device> devices;
  std::vector<Tensors> outputs;     // of each replica, those that are gathered with a gradient
  std::vector<Tensors> parts;       // of each replica, of the inputs: leaves of its graph
  std::vector<Tensors> parameters;  // of each replica
  std::vector<bool> input_needs_gradient;

  /// @throws Error{invalid_model_use} for a second backward, and with create_graph
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  void release_variables() override;

 private:
  /// What one call of the autograd engine computes.
  struct Pass {
    Tensors roots, of_roots;  ///< outputs, and their gradients
    Tensors leaves;
    Pass& operator+=(const Pass& other);
  };

  Pass pass_of(std::size_t replica, const Tensors& gradients) const;
  /// The gradients of the leaves; undefined for those that the roots do not depend on.
  static Tensors run(const Pass& pass);
  /// The parameters, then the parts of the inputs that need a gradient.
  Tensors leaves_of(std::size_t replica) const;
  at::Tensor part_of(const at::Tensor& gradient, std::size_t replica, std::size_t output) const;
  /// The gradients of the inputs, then those of the parameters, summed in the order of the
  /// replicas.
  torch::autograd::variable_list gathered(const std::vector<Tensors>& results) const;
};

}  // namespace hpcboot
