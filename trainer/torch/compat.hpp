#pragma once

// With compat.cpp the one place that knows what differs between versions of LibTorch: 1.13, where
// c10d::ProcessGroupGloo is itself a c10d::ProcessGroup, and 2.7 or newer, where collectives are
// those of a c10d::Backend under it.

#include <torch/version.h>

#if TORCH_VERSION_MAJOR < 1 || (TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR < 13) || \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 7)
#error "hpcboot::torch needs LibTorch 1.13, or 2.7 or newer"
#endif

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Reducer;
}
namespace gloo {
namespace transport {
class Device;
}
}  // namespace gloo

namespace hpcboot::compat {

/// Where Gloo listens: the address of a network interface, of a host, or of this host's name.
using GlooDevice = std::shared_ptr<::gloo::transport::Device>;
GlooDevice gloo_device_of_interface(const std::string& name);
GlooDevice gloo_device_of_host(const std::string& name);
GlooDevice default_gloo_device();

/// Connects this rank with all others; does not return before every one of them does the same.
c10::intrusive_ptr<c10d::ProcessGroup> make_gloo_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       int rank, int world_size, GlooDevice device,
                                                       std::chrono::milliseconds timeout);

/// What moves tensors of such a device between the ranks of a group: "gloo", "nccl".
std::string backend_name(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                         c10::DeviceType device);

/// What c10d::Reducer's constructor takes, in all versions of it.
struct ReducerArguments {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;  ///< of the parameters
  /// Bytes of the first buckets and of all others, for the assignment of the first step.
  std::vector<std::size_t> first_limits;
  std::int64_t bucket_bytes = 0;
  std::int64_t first_bucket_bytes = 0;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
};
std::unique_ptr<c10d::Reducer> make_reducer(const ReducerArguments& arguments,
                                            const c10::intrusive_ptr<c10d::ProcessGroup>& group);

/// The rule of torch::optim::SGD.
struct SgdRule {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};
/// Changes all these parameters, and what they keep of earlier gradients, by one kernel. 1.13 does
/// not have it: there this is an internal error.
/// @param averages one for each parameter; none without momentum
/// @param first_step these averages are made by this step; the kernel does not read them
void fused_sgd(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
               const std::vector<at::Tensor>& averages, const SgdRule& rule, bool first_step);

/// Autocast of one kind of device: CUDA, or the CPU.
bool autocast_enabled(c10::DeviceType device);
void set_autocast(c10::DeviceType device, bool on);
void set_autocast_type(c10::DeviceType device, c10::ScalarType type);

}  // namespace hpcboot::compat
