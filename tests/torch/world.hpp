#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// All ranks of the test, from the start of main() to its end.
extern std::unique_ptr<ProcessGroup> world;

/// Where the models and tensors of the tests are: on the CPU, or with HPCBOOT_TEST_DEVICE=cuda on
/// this rank's GPU.
extern c10::Device device;

inline at::Tensor here(const at::Tensor& tensor) {
  return tensor.to(device);
}

/// @param module a holder of, or a pointer to, a module, which is moved
template <typename Pointer>
Pointer here(Pointer module) {
  module->to(device);
  return module;
}

}  // namespace hpcboot
