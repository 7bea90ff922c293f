#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpcboot/torch/tensors.hpp"

namespace hpcboot {

/// The part of DataParallel that does not depend on the module type: replicate, scatter, the
/// parallel passes and gather.
class ReplicaRunner {
 public:
  /// Runs replica number `replica` on its parts of the inputs, and returns the tensors of its
  /// output. Called by several threads at once, each with a different number.
  using Forward = std::function<std::vector<at::Tensor>(std::size_t replica,
                                                        const std::vector<at::Tensor>& parts)>;

  /// Moves replica i to devices[i]. The first replica is the model itself.
  /// @throws Error{invalid_model_use} if there is no device, or the replicas differ
  ReplicaRunner(std::vector<std::shared_ptr<torch::nn::Module>> replicas,
                std::vector<at::Device> devices);
  ReplicaRunner(ReplicaRunner&&) noexcept;
  ReplicaRunner& operator=(ReplicaRunner&&) noexcept;
  ~ReplicaRunner();

  /// @return the tensors of the outputs, gathered on the first device
  /// @throws Error{invalid_model_use} if the inputs cannot be split, or the outputs cannot be
  ///         gathered; what a replica's forward throws: if several throw, the exception of the
  ///         first replica
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs, const Forward& forward);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Trains one model on several devices of one process, like PyTorch's class of this name: each
/// forward copies the model's parameters and buffers and a part of the batch to every device, runs
/// all parts in parallel, and gathers the outputs on the first device; the backward pass also runs
/// on all devices in parallel and adds their gradients to the model's. The training loop is the
/// same as for one device:
///
///     hpcboot::DataParallel parallel([] { return Net(); }, {{at::kCUDA, 0}, {at::kCUDA, 1}});
///     torch::optim::Adam optimizer(parallel.module()->parameters(), 1e-4);
///     torch::Tensor loss = torch::cross_entropy_loss(parallel.forward(images), labels);
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();
///
/// A device may be listed more than once: {at::kCPU, at::kCPU} trains two replicas on the CPU, each
/// on its own thread (torch::set_num_threads() sets how many more it uses). Batch normalisation
/// sees one part of the batch, and the first device's statistics are kept. For several hosts, and
/// for speed, use DistributedDataParallel.
///
/// What each forward takes over from the model: parameters, buffers, which parameters are trained,
/// which layers are in training mode, and autocast. Not other fields, such as the probability of a
/// dropout layer: change them in all of replicas().
///
/// @tparam Module a module holder (TORCH_MODULE) or a std::shared_ptr to a module, whose forward
///         takes batches (first dimension) and returns batches, or values for the whole batch
template <typename Module>
class DataParallel {
 public:
  /// @param make returns a module; called once per device. The first module is the model, whose
  ///        parameters and buffers replace those of the others
  /// @throws Error{invalid_model_use} if there is no device, or `make` returns modules that differ
  template <typename Make>
  DataParallel(const Make& make, std::vector<at::Device> devices)
      : replicas_(make_all(make, devices.size())),
        runner_(bases_of(replicas_), std::move(devices)) {}

  /// Returns the module's output for the whole batch, on the first device. Tensors among the
  /// inputs, also in vectors, tuples and other structures that for_each_tensor() knows, are split
  /// as in PyTorch: into equal parts, except for the last; with fewer samples than devices, some
  /// devices stay idle. Other inputs are copied to all replicas. The output may have any structure
  /// that for_each_tensor() knows. Its tensors are put together along their first dimension, and
  /// those without a dimension, such as a loss, become a vector with one element for each replica;
  /// what else is in it is the first replica's. One backward may follow; it sets the gradients of
  /// the parameters and of the inputs that require them.
  /// @throws Error{invalid_model_use} if the inputs cannot be split, or the outputs cannot be
  ///         gathered; what the module's forward throws. Error{invalid_model_use} is also thrown by
  ///         a second backward, and by one with create_graph
  template <typename... Inputs>
  auto forward(const Inputs&... inputs) {
    using Output = std::decay_t<decltype(replicas_.front()->forward(inputs...))>;
    std::vector<at::Tensor> tensors;
    (collect(inputs, tensors), ...);
    std::optional<Output> output;  // the first replica's; only its thread writes it
    const auto gathered =
        runner_.forward(tensors, [&](std::size_t replica, const std::vector<at::Tensor>& parts) {
          std::size_t next = 0;
          // Braces evaluate from left to right.
          std::tuple<Inputs...> arguments{own_part(inputs, parts, next)...};
          auto own = std::apply(
              [&](const Inputs&... all) { return replicas_[replica]->forward(all...); }, arguments);
          std::vector<at::Tensor> results = tensors_of(own);
          if (replica == 0) output = std::move(own);
          return results;
        });
    std::size_t next = 0;
    for_each_tensor(*output, [&](at::Tensor& tensor) { tensor = gathered[next++]; });
    return std::move(*output);
  }

  /// The model, with the parameters to optimise, the state to save, train() and eval().
  Module& module() { return replicas_.front(); }
  const Module& module() const { return replicas_.front(); }

  /// The model and its copies, one for each device.
  const std::vector<Module>& replicas() const { return replicas_; }

 private:
  template <typename Input>
  static void collect(const Input& input, std::vector<at::Tensor>& tensors) {
    if constexpr (holds_tensors<Input>) {
      for_each_tensor(input, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
    }
  }

  template <typename Input>
  static Input own_part(Input input, const std::vector<at::Tensor>& parts, std::size_t& next) {
    if constexpr (holds_tensors<Input>) {
      for_each_tensor(input, [&](at::Tensor& tensor) { tensor = parts[next++]; });
    }
    return input;
  }

  template <typename Make>
  static std::vector<Module> make_all(const Make& make, std::size_t count) {
    std::vector<Module> replicas;
    for (std::size_t i = 0; i < count; ++i) replicas.push_back(make());
    return replicas;
  }

  static std::vector<std::shared_ptr<torch::nn::Module>> bases_of(
      const std::vector<Module>& replicas) {
    std::vector<std::shared_ptr<torch::nn::Module>> bases;
    for (const Module& replica : replicas) bases.push_back(base_of(replica));
    return bases;
  }
  template <typename Some>
  static std::shared_ptr<torch::nn::Module> base_of(const std::shared_ptr<Some>& module) {
    return module;
  }
  template <typename Holder>
  static std::shared_ptr<torch::nn::Module> base_of(const Holder& holder) {
    return holder.ptr();
  }

  std::vector<Module> replicas_;
  ReplicaRunner runner_;
};

template <typename Make>
DataParallel(const Make&, std::vector<at::Device>) -> DataParallel<std::invoke_result_t<Make>>;

}  // namespace hpcboot
