#pragma once

// The one file that knows what differs between versions of LibTorch. Written for 1.13, where
// c10d::ProcessGroupGloo is itself a c10d::ProcessGroup.

#include <torch/version.h>

#if TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR < 13
#error "hpcboot::torch needs LibTorch 1.13 or newer"
#endif

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <memory>

namespace hpcboot::compat {

using GlooDevice = std::shared_ptr<::gloo::transport::Device>;

inline c10::intrusive_ptr<c10d::ProcessGroup> make_gloo_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int world_size, GlooDevice device,
    std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(std::move(device));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, world_size, options);
}

/// Autocast of one kind of device: CUDA, or the CPU.
inline bool autocast_enabled(bool cuda) {
  return cuda ? at::autocast::is_enabled() : at::autocast::is_cpu_enabled();
}
inline void set_autocast(bool cuda, bool on) {
  if (cuda) {
    at::autocast::set_enabled(on);
  } else {
    at::autocast::set_cpu_enabled(on);
  }
}
inline void set_autocast_type(bool cuda, at::ScalarType type) {
  if (cuda) {
    at::autocast::set_autocast_gpu_dtype(type);
  } else {
    at::autocast::set_autocast_cpu_dtype(type);
  }
}
/// Around what is computed under autocast: the weights in the other type are kept until the
/// outermost of these ends.
inline void enter_autocast() {
  at::autocast::increment_nesting();
}
inline void leave_autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

/// Whether CUDA may compute products of float32 in TF32.
inline void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

}  // namespace hpcboot::compat
