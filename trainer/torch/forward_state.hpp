#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <array>
#include <vector>

namespace hpcboot {

// What a forward pass depends on besides its inputs and parameters, for a second pass that must
// compute the same.

/// The states of the random number generators of the CPU and of the devices of these tensors.
class RandomStates {
 public:
  explicit RandomStates(const std::vector<at::Tensor>& tensors);

  /// Whether random numbers were drawn since.
  bool have_moved() const;
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

/// A copy of a module's buffers, such as running averages.
class BufferValues {
 public:
  explicit BufferValues(const torch::nn::Module& module);
  /// Graphs that have saved a buffer do not notice.
  void restore() const;

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> values_;
};

}  // namespace hpcboot
