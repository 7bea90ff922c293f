#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// All ranks of the test, from the start of main() to its end.
extern std::unique_ptr<ProcessGroup> world;

/// Where the models and tensors of the tests are: on the CPU, or with HPCBOOT_TEST_DEVICE=cuda on
/// this rank's GPU.
extern c10::Device device;

/// What moves CUDA tensors between the ranks.
extern std::string backend;

inline at::Tensor here(const at::Tensor& tensor) {
  return tensor.to(device);
}

/// @param module a holder of, or a pointer to, a module, which is moved
template <typename Pointer>
Pointer here(Pointer module) {
  module->to(device);
  return module;
}

/// Whether the values are the same, on any devices.
inline bool same_values(const at::Tensor& a, const at::Tensor& b) {
  return a.cpu().equal(b.cpu());
}

}  // namespace hpcboot
