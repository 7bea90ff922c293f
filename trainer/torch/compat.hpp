#pragma once

// Together with compat.cpp, the only place that handles the differences between LibTorch versions:
// 1.13, where c10d::ProcessGroupGloo is itself a c10d::ProcessGroup, and 2.7 or newer, where a
// c10d::Backend below the group runs the collectives.

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
class Logger;
class Reducer;
}  // namespace c10d
namespace torch {
namespace autograd {
namespace profiler {
struct KinetoEvent;
}
}  // namespace autograd
}  // namespace torch
namespace gloo {
namespace transport {
class Device;
}
}  // namespace gloo

namespace hpcboot::compat {

/// Where Gloo listens: the address of a network interface, of a host, or of this host by name.
using GlooDevice = std::shared_ptr<::gloo::transport::Device>;
GlooDevice gloo_device_of_interface(const std::string& name);
GlooDevice gloo_device_of_host(const std::string& name);
GlooDevice default_gloo_device();

/// Connects this rank to all others; returns only once all of them have called it.
c10::intrusive_ptr<c10d::ProcessGroup> make_gloo_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       int rank, int world_size, GlooDevice device,
                                                       std::chrono::milliseconds timeout);

/// The backend that moves tensors of this device type between the ranks: "gloo", "nccl".
std::string backend_name(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                         c10::DeviceType device);

/// Sends pieces of one tensor to the ranks, and receives the pieces of another. Named
/// all_to_all_single in LibTorch 2.15, which deprecates the old name.
/// @param sent_lengths,received_lengths of the pieces along the first dimension
c10::intrusive_ptr<c10d::Work> all_to_all(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                          at::Tensor received, at::Tensor sent,
                                          std::vector<std::int64_t> received_lengths,
                                          std::vector<std::int64_t> sent_lengths);

/// The arguments of c10d::Reducer's constructor, across all versions.
struct ReducerArguments {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;  ///< of the parameters
  std::vector<bool> sparse;        ///< which parameters get sparse gradients
  /// Size limits in bytes of the first buckets and of all others, for the first assignment.
  std::vector<std::size_t> first_limits;
  std::int64_t bucket_bytes = 0;
  std::int64_t first_bucket_bytes = 0;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  bool broadcast_buffers = false;  ///< for the logger only
};

/// A reducer and its logger, which several of the reducer's functions use without a check whether
/// there is one: without it, a set of unused parameters that changes from step to step crashes.
struct LoggedReducer {
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;
};
LoggedReducer make_reducer(const ReducerArguments& arguments,
                           const c10::intrusive_ptr<c10d::ProcessGroup>& group);

/// The options of torch::optim::SGD.
struct SgdRule {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};
/// Updates all these parameters and their momentum buffers with one kernel. LibTorch 1.13 lacks it:
/// there, this is an internal error.
/// @param averages the momentum buffers, one for each parameter; empty without momentum
/// @param first_step this step initialises the buffers; the kernel does not read them
void fused_sgd(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
               const std::vector<at::Tensor>& averages, const SgdRule& rule, bool first_step);

/// Scaled dot-product attention without a mask: softmax(Q K^T / sqrt(width)) V. LibTorch 2.x has it
/// as one operation, with fused kernels.
/// @param queries,keys,values {batch, heads, tokens, width of a head}
at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values);

/// When an event of LibTorch's profiler began, in nanoseconds since the epoch, and how long it
/// took. 1.13 knows whole microseconds only.
struct EventTime {
  std::int64_t begin = 0;
  std::int64_t duration = 0;
};
EventTime time_of(const torch::autograd::profiler::KinetoEvent& event);

/// Autocast for one device type: CUDA, or the CPU.
bool autocast_enabled(c10::DeviceType device);
void set_autocast(c10::DeviceType device, bool on);
c10::ScalarType autocast_type(c10::DeviceType device);
void set_autocast_type(c10::DeviceType device, c10::ScalarType type);

}  // namespace hpcboot::compat
