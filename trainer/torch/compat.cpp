#include "compat.hpp"

#include <ATen/Functions.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace hpcboot::compat {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

/// Arguments derived for c10d::Reducer's constructor.
struct ReducerParts {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<std::size_t> limits;  ///< of the buckets, in bytes
  std::unordered_map<std::size_t, std::string> names;
};

/// In 2.x the constructor lost an argument and, several times, gained others at its end. This
/// therefore tests the signature, not the version.
template <typename Reducer, typename... More>
std::shared_ptr<Reducer> construct_reducer(const ReducerArguments& a, const ReducerParts& p,
                                           const Group& group, const More&... more) {
  if constexpr (std::is_constructible_v<Reducer, decltype(a.parameters), decltype(p.buckets),
                                        decltype(p.limits), Group, decltype(a.sparse), std::int64_t,
                                        bool, bool, decltype(p.names), std::int64_t, More...>) {
    return std::make_shared<Reducer>(a.parameters, p.buckets, p.limits, group, a.sparse,
                                     a.bucket_bytes, a.find_unused_parameters,
                                     a.gradient_as_bucket_view, p.names, a.first_bucket_bytes,
                                     more...);
  } else if constexpr (std::is_constructible_v<Reducer, decltype(a.parameters), decltype(p.buckets),
                                               Group, decltype(a.sparse), std::int64_t, bool, bool,
                                               decltype(p.names), std::int64_t, More...>) {
    return std::make_shared<Reducer>(a.parameters, p.buckets, group, a.sparse, a.bucket_bytes,
                                     a.find_unused_parameters, a.gradient_as_bucket_view, p.names,
                                     a.first_bucket_bytes, more...);
  } else if constexpr (sizeof...(More) == 0) {
    const bool skip_unused = false;
    const bool python_reducer = false;
    return construct_reducer<Reducer>(a, p, group, skip_unused, python_reducer);
  } else {
    static_assert(sizeof...(More) == 2, "c10d::Reducer has an unknown constructor");
    return construct_reducer<Reducer>(a, p, group, more..., std::vector<std::int64_t>());
  }
}

template <typename AnyGroup, typename = void>
struct HasAllToAllSingle : std::false_type {};
template <typename AnyGroup>
struct HasAllToAllSingle<AnyGroup, std::void_t<decltype(&AnyGroup::all_to_all_single)>>
    : std::true_type {};

/// A template, so that only the branch that is chosen must compile.
template <typename AnyGroup, typename... Arguments>
c10::intrusive_ptr<c10d::Work> call_all_to_all(AnyGroup& group, Arguments&... arguments) {
  if constexpr (HasAllToAllSingle<AnyGroup>::value) {
    return group.all_to_all_single(arguments...);
  } else {
    return group.alltoall_base(arguments...);
  }
}

template <typename Event>
auto time_of_event(const Event& event, int /*preferred*/)
    -> decltype(event.startNs(), EventTime()) {
  return {static_cast<std::int64_t>(event.startNs()),
          static_cast<std::int64_t>(event.durationNs())};
}
template <typename Event>
EventTime time_of_event(const Event& event, long /*otherwise*/) {
  constexpr std::int64_t kMicro = 1000;
  return {static_cast<std::int64_t>(event.startUs()) * kMicro,
          static_cast<std::int64_t>(event.durationUs()) * kMicro};
}

}  // namespace

EventTime time_of(const torch::autograd::profiler::KinetoEvent& event) {
  return time_of_event(event, 0);
}

GlooDevice gloo_device_of_interface(const std::string& name) {
  return c10d::ProcessGroupGloo::createDeviceForInterface(name);
}

GlooDevice gloo_device_of_host(const std::string& name) {
  return c10d::ProcessGroupGloo::createDeviceForHostname(name);
}

GlooDevice default_gloo_device() {
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

Group make_gloo_group(const c10::intrusive_ptr<c10d::Store>& store, int rank, int world_size,
                      GlooDevice device, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(std::move(device));
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, world_size, options);
#if TORCH_VERSION_MAJOR >= 2
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, world_size);
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  // Gloo copies CUDA tensors through host memory; used until the group gets a better backend.
  group->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  return group;
#else
  return gloo;
#endif
}

std::string backend_name(const Group& group, [[maybe_unused]] c10::DeviceType device) {
#if TORCH_VERSION_MAJOR >= 2
  return group->getBackend(device)->getBackendName();
#else
  return group->getBackendName();
#endif
}

c10::intrusive_ptr<c10d::Work> all_to_all(const Group& group, at::Tensor received, at::Tensor sent,
                                          std::vector<std::int64_t> received_lengths,
                                          std::vector<std::int64_t> sent_lengths) {
  return call_all_to_all(*group, received, sent, received_lengths, sent_lengths);
}

LoggedReducer make_reducer(const ReducerArguments& arguments, const Group& group) {
  ReducerParts parts;
  std::tie(parts.buckets, parts.limits) = c10d::compute_bucket_assignment_by_size(
      arguments.parameters, arguments.first_limits, arguments.sparse);
  // Gradients become ready roughly in reverse order of the parameters.
  std::reverse(parts.buckets.begin(), parts.buckets.end());
  std::reverse(parts.limits.begin(), parts.limits.end());
  for (std::size_t i = 0; i < arguments.names.size(); ++i) {
    parts.names.emplace(i, arguments.names[i]);
  }
  LoggedReducer made;
  made.reducer = construct_reducer<c10d::Reducer>(arguments, parts, group);
  made.logger = std::make_shared<c10d::Logger>(made.reducer);
  made.reducer->set_logger(made.logger);
  made.logger->set_construction_data_and_log("hpcboot::DistributedDataParallel", /*device_ids=*/{},
                                             /*output_device=*/-1, arguments.broadcast_buffers,
                                             /*has_sync_bn=*/false, /*static_graph=*/false);
  return made;
}

#if TORCH_VERSION_MAJOR >= 2
void fused_sgd(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
               const std::vector<at::Tensor>& averages, const SgdRule& rule, bool first_step) {
  at::_fused_sgd_(parameters, gradients, averages, rule.weight_decay, rule.momentum, rule.lr,
                  rule.dampening, rule.nesterov, /*maximize=*/false, first_step);
}
at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
  return at::scaled_dot_product_attention(queries, keys, values);
}
bool autocast_enabled(c10::DeviceType device) {
  return at::autocast::is_autocast_enabled(device);
}
void set_autocast(c10::DeviceType device, bool on) {
  at::autocast::set_autocast_enabled(device, on);
}
c10::ScalarType autocast_type(c10::DeviceType device) {
  return at::autocast::get_autocast_dtype(device);
}
void set_autocast_type(c10::DeviceType device, c10::ScalarType type) {
  at::autocast::set_autocast_dtype(device, type);
}
#else
void fused_sgd(const std::vector<at::Tensor>& /*parameters*/,
               const std::vector<at::Tensor>& /*gradients*/,
               const std::vector<at::Tensor>& /*averages*/, const SgdRule& /*rule*/,
               bool /*first_step*/) {
  TORCH_INTERNAL_ASSERT(false, "fused_sgd() of LibTorch 1.13");
}
at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(-1)));
  const at::Tensor scores = at::matmul(queries * scale, keys.transpose(-2, -1));
  return at::matmul(at::softmax(scores, -1), values);
}
bool autocast_enabled(c10::DeviceType device) {
  return device == c10::DeviceType::CUDA ? at::autocast::is_enabled()
                                         : at::autocast::is_cpu_enabled();
}
void set_autocast(c10::DeviceType device, bool on) {
  if (device == c10::DeviceType::CUDA) {
    at::autocast::set_enabled(on);
  } else {
    at::autocast::set_cpu_enabled(on);
  }
}
c10::ScalarType autocast_type(c10::DeviceType device) {
  return device == c10::DeviceType::CUDA ? at::autocast::get_autocast_gpu_dtype()
                                         : at::autocast::get_autocast_cpu_dtype();
}
void set_autocast_type(c10::DeviceType device, c10::ScalarType type) {
  if (device == c10::DeviceType::CUDA) {
    at::autocast::set_autocast_gpu_dtype(type);
  } else {
    at::autocast::set_autocast_cpu_dtype(type);
  }
}
#endif

}  // namespace hpcboot::compat
