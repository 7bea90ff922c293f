#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <vector>

namespace hpcboot {

// What a forward pass depends on besides its inputs and parameters, for a second pass that must
// compute the same.

/// -1 for a tensor without a version.
std::int64_t version_of(const at::Tensor& tensor);

/// train() or eval(), and the versions of the parameters.
class ModuleSettings {
 public:
  explicit ModuleSettings(const torch::nn::Module& module);
  /// @throws Error{invalid_model_use} if they have changed
  void require_same(const torch::nn::Module& module) const;

 private:
  std::vector<bool> training_;  ///< by module
  std::vector<std::int64_t> versions_;
};

/// The states of the random number generators of the CPU and of the devices of these tensors and
/// of this module. Threads share the generator of a device.
class RandomStates {
 public:
  RandomStates(const std::vector<at::Tensor>& tensors, const torch::nn::Module& module);

  /// Forgets generators of which no random number was drawn since.
  void keep_used();
  /// The present states of the same generators.
  RandomStates now() const;
  void restore() const;

 private:
  struct State {
    at::Generator generator;
    at::Tensor bytes;
  };
  std::vector<State> states_;
};

/// Autocast of this thread, on the CPU and on CUDA devices.
class AutocastState {
 public:
  AutocastState();
  void restore() const;

 private:
  struct OfDevice {
    c10::DeviceType device;
    bool is_on;
    c10::ScalarType type;
  };
  std::array<OfDevice, 2> devices_;
};

/// During its lifetime, autocast does not keep converted weights: those of a pass without gradients
/// must not serve one with gradients, and those of a backward pass would outlive the optimizer's
/// step.
class WithoutAutocastCache {
 public:
  WithoutAutocastCache();
  ~WithoutAutocastCache();
  WithoutAutocastCache(const WithoutAutocastCache&) = delete;
  WithoutAutocastCache& operator=(const WithoutAutocastCache&) = delete;

 private:
  bool before_;
};

/// Puts back a module's buffers, such as running averages, when it ends. Graphs that have saved a
/// buffer do not notice.
class BufferValues {
 public:
  explicit BufferValues(const torch::nn::Module& module);
  ~BufferValues();
  BufferValues(const BufferValues&) = delete;
  BufferValues& operator=(const BufferValues&) = delete;

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> values_;
};

}  // namespace hpcboot
