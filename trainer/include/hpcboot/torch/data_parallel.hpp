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

/// The part of DataParallel that does not depend on the type of the module: replicate, scatter,
/// the parallel passes and gather.
class ReplicaRunner {
 public:
  /// Runs replica number `replica` on its part of the batch. Called by several threads at once,
  /// each with another number.
  using Forward = std::function<at::Tensor(std::size_t replica, const at::Tensor& part)>;

  /// Moves replica i to devices[i]. The first replica is the model itself.
  /// @throws Error{invalid_model_use} where there is no device, or the replicas differ
  ReplicaRunner(std::vector<std::shared_ptr<torch::nn::Module>> replicas,
                std::vector<at::Device> devices, Forward forward);
  ReplicaRunner(ReplicaRunner&&) noexcept;
  ReplicaRunner& operator=(ReplicaRunner&&) noexcept;
  ~ReplicaRunner();

  /// @throws what a replica's forward throws, the first replica's first
  at::Tensor forward(const at::Tensor& input);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Trains one model on several devices of one process, as PyTorch's class of this name does: each
/// forward gives every device the model's parameters and buffers and its part of the batch, runs
/// all parts at once, and gathers the outputs on the first device; the backward pass runs on all
/// devices at once, too, and adds their gradients up in the model's. So a training loop is the same
/// as for one device:
///
///     hpcboot::DataParallel parallel([] { return Net(); }, {{at::kCUDA, 0}, {at::kCUDA, 1}});
///     torch::optim::Adam optimizer(parallel.module()->parameters(), 1e-4);
///     torch::Tensor loss = torch::cross_entropy_loss(parallel.forward(images), labels);
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();
///
/// A device may be listed more than once: {at::kCPU, at::kCPU} trains two replicas on the CPU, on a
/// thread each (torch::set_num_threads() says with how many more). Batch normalisation sees one
/// part of the batch, and the first device's statistics are kept. For more than one host, and for
/// speed, there is DistributedDataParallel.
///
/// @tparam Module a module holder (TORCH_MODULE) or a std::shared_ptr to a module, whose forward
///         takes a batch (first dimension) and returns one
template <typename Module>
class DataParallel {
 public:
  /// @param make gives a module; called once for each device. The first one is the model, whose
  ///        parameters and buffers replace the others'
  /// @throws Error{invalid_model_use} where there is no device, or `make` gives modules that differ
  template <typename Make>
  DataParallel(const Make& make, std::vector<at::Device> devices)
      : replicas_(make_all(make, devices.size())),
        runner_(bases_of(replicas_), std::move(devices),
                [replicas = replicas_](std::size_t replica, const at::Tensor& part) mutable {
                  return replicas[replica]->forward(part);
                }) {}

  /// The outputs for the whole batch, on the first device. The parts are as PyTorch's: of equal
  /// size but for the last; a batch of fewer samples than devices leaves some idle. One backward
  /// may follow; gradients come to the parameters and, where it requires them, to `input`.
  /// @throws what the module's forward throws
  at::Tensor forward(const at::Tensor& input) { return runner_.forward(input); }

  /// The model: its parameters to optimise, its state to save, train() and eval().
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
