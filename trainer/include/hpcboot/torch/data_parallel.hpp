#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpcboot {

/// The part of DataParallel that does not depend on the module type: replicate, scatter, the
/// parallel passes and gather.
class ReplicaRunner {
 public:
  /// Runs replica number `replica` on its part of the batch. Called by several threads at once,
  /// each with a different number.
  using Forward = std::function<at::Tensor(std::size_t replica, const at::Tensor& part)>;

  /// Moves replica i to devices[i]. The first replica is the model itself.
  /// @throws Error{invalid_model_use} if there is no device, or the replicas differ
  ReplicaRunner(std::vector<std::shared_ptr<torch::nn::Module>> replicas,
                std::vector<at::Device> devices, Forward forward);
  ReplicaRunner(ReplicaRunner&&) noexcept;
  ReplicaRunner& operator=(ReplicaRunner&&) noexcept;
  ~ReplicaRunner();

  /// @throws what a replica's forward throws; if several throw, the exception of the first replica
  at::Tensor forward(const at::Tensor& input);

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
/// @tparam Module a module holder (TORCH_MODULE) or a std::shared_ptr to a module, whose forward
///         takes a batch (first dimension) and returns a batch
template <typename Module>
class DataParallel {
 public:
  /// @param make returns a module; called once per device. The first module is the model, whose
  ///        parameters and buffers replace those of the others
  /// @throws Error{invalid_model_use} if there is no device, or `make` returns modules that differ
  template <typename Make>
  DataParallel(const Make& make, std::vector<at::Device> devices)
      : replicas_(make_all(make, devices.size())),
        runner_(bases_of(replicas_), std::move(devices),
                [replicas = replicas_](std::size_t replica, const at::Tensor& part) mutable {
                  return replicas[replica]->forward(part);
                }) {}

  /// Returns the outputs for the whole batch, on the first device. The batch is split as in
  /// PyTorch: into equal parts, except for the last; with fewer samples than devices, some devices
  /// stay idle. One backward may follow; it sets the gradients of the parameters and of `input`, if
  /// `input` requires them.
  /// @throws what the module's forward throws
  at::Tensor forward(const at::Tensor& input) { return runner_.forward(input); }

  /// The model, with the parameters to optimise, the state to save, train() and eval().
  const Module& module() const { return replicas_.front(); }

 private:
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
