#include "loop/operator_recorder.hpp"

#include <ATen/record_function.h>
#include <c10/util/Logging.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <set>
#include <utility>

#include "torch/collective_range.hpp"
#include "torch/compat.hpp"

// glog's threshold, in builds of LibTorch that log through it; such as Debian's.
namespace fLI {
extern __attribute__((weak)) int FLAGS_minloglevel;
}
C10_DECLARE_int(caffe2_log_level);  // that of the others

namespace hpcboot::train {
namespace {

using profile::EventKind;
using profile::TraceEvent;
using torch::autograd::profiler::KinetoEvent;
using torch::profiler::impl::ActivityType;

// libkineto's ActivityType, whose header no package of LibTorch contains. The first ones are the
// same in all versions.
constexpr int kMirroredRange = 2;  // a range of the host, shown once more on the GPU
constexpr int kGpuCopy = 3;
constexpr int kGpuMemset = 4;

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

EventKind kind_of(const KinetoEvent& event, const std::string& name) {
  if (event.deviceType() != c10::DeviceType::CPU) {
    const int type = event.activityType();
    return type == kGpuCopy || type == kGpuMemset ? EventKind::copy : EventKind::kernel;
  }
  if (name == kCollectiveWait) return EventKind::wait;
  if (event.isAsync() || starts_with(name, "gloo:") || starts_with(name, "nccl:"))
    return EventKind::collective;
  if (event.scope() == static_cast<std::uint8_t>(at::RecordScope::USER_SCOPE))
    return EventKind::range;
  return starts_with(name, "cuda") ? EventKind::runtime : EventKind::operation;
}

int device_of(const KinetoEvent& event) {
  return event.deviceType() == c10::DeviceType::CPU ? -1 : static_cast<int>(event.deviceIndex());
}

TraceEvent event_of(const KinetoEvent& event, std::string name, const compat::EventTime& time) {
  TraceEvent result;
  result.kind = kind_of(event, name);
  result.name = std::move(name);
  result.begin = time.begin;
  result.duration = time.duration;
  result.device = device_of(event);
  const bool is_on_gpu = result.device >= 0;
  result.lane =
      is_on_gpu ? event.deviceResourceId() : static_cast<std::int64_t>(event.startThreadId());
  if (event.hasShapes()) result.shapes = event.shapes().vec();
  if (event.hasTypes()) result.types = event.dtypes().vec();
  result.flops = event.flops();
  result.correlation = is_on_gpu ? event.linkedCorrelationId() : event.correlationId();
  return result;
}

}  // namespace

LogThreshold::LogThreshold() : glog_(&fLI::FLAGS_minloglevel), own_(FLAGS_caffe2_log_level) {
  constexpr int kErrors = 2;
  FLAGS_caffe2_log_level = std::max(own_, kErrors);
  if (glog_ != nullptr) glog_before_ = std::exchange(*glog_, std::max(*glog_, kErrors));
}

LogThreshold::~LogThreshold() {
  FLAGS_caffe2_log_level = own_;
  if (glog_ != nullptr) *glog_ = glog_before_;
}

OperatorRecorder::OperatorRecorder(c10::Device device) {
  using torch::profiler::impl::ProfilerConfig;
  using torch::profiler::impl::ProfilerState;
  const bool shapes = true;
  const bool memory = true;
  const bool stacks = false;
  const bool flops = true;
  const ProfilerConfig config(ProfilerState::KINETO, shapes, memory, stacks, flops);
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device.is_cuda()) activities.insert(ActivityType::CUDA);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(
      config, activities,
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
}

OperatorRecorder::~OperatorRecorder() {
  if (!is_on_) return;
  try {
    torch::autograd::profiler::disableProfiler();
  } catch (const std::exception&) {
  }
}

profile::Recording OperatorRecorder::stop() {
  is_on_ = false;
  const auto result = torch::autograd::profiler::disableProfiler();
  profile::Recording recording;
  for (const KinetoEvent& event : result->events()) {
    const compat::EventTime time = compat::time_of(event);
    std::string name = event.name();
    if (name == "[memory]") {
      recording.memory.push_back({time.begin, event.nBytes(), device_of(event)});
    } else if (event.activityType() != kMirroredRange) {
      recording.events.push_back(event_of(event, std::move(name), time));
    }
  }
  return recording;
}

}  // namespace hpcboot::train
