#include "profile/time_summary.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "json/json_reader.hpp"
#include "profile/intervals.hpp"

namespace hpcboot::profile {
namespace {

using Filter = std::function<bool(const TraceEvent&)>;

Intervals times_of(const Recording& recording, const Filter& is_meant) {
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const TraceEvent& event : recording.events) {
    if (is_meant(event)) parts.emplace_back(event.begin, event.end());
  }
  return Intervals(std::move(parts));
}

Filter range(std::vector<std::string> names) {
  return [names = std::move(names)](const TraceEvent& event) {
    return event.kind == EventKind::range && event.device < 0 &&
           std::find(names.begin(), names.end(), event.name) != names.end();
  };
}

bool is_kernel(const TraceEvent& event) {
  return event.kind == EventKind::kernel;
}

bool is_copy_to_gpu(const TraceEvent& event) {
  return event.kind == EventKind::copy && event.name.find("HtoD") != std::string::npos;
}

bool is_of_nccl(const TraceEvent& event) {
  return event.kind == EventKind::kernel && event.name.find("nccl") != std::string::npos;
}

}  // namespace

TimeSummary summarise(const Recording& recording) {
  const Intervals steps = times_of(recording, is_step);
  const auto waits =
      times_of(recording, [](const TraceEvent& event) { return event.kind == EventKind::wait; });
  const bool has_gpu = std::any_of(recording.events.begin(), recording.events.end(), is_kernel);
  Intervals compute;
  Intervals communication;
  Intervals data = times_of(recording, range({kDataWait, kCopyToDevice}));
  if (has_gpu) {
    compute = times_of(recording, [](const TraceEvent& event) {
      return event.device >= 0 && !is_of_nccl(event) && !is_copy_to_gpu(event);
    });
    data = data.united_with(times_of(recording, is_copy_to_gpu));
    communication = times_of(recording, is_of_nccl);
  } else {
    compute = times_of(recording, range({kForward, kBackward, kOptimizer})).without(waits);
    communication = waits;
  }
  TimeSummary summary;
  summary.steps = std::count_if(recording.events.begin(), recording.events.end(), is_step);
  summary.total = steps.length();
  compute = compute.within(steps);
  communication = communication.within(steps).without(compute);
  const Intervals busy = compute.united_with(communication);
  data = data.within(steps).without(busy);
  summary.compute = compute.length();
  summary.communication = communication.length();
  summary.data = data.length();
  summary.idle = summary.total - summary.compute - summary.communication - summary.data;
  return summary;
}

Json to_json(const TimeSummary& summary) {
  return {{"steps", summary.steps},     {"total", summary.total},
          {"compute", summary.compute}, {"communication", summary.communication},
          {"data", summary.data},       {"idle", summary.idle}};
}

TimeSummary time_summary_from_json(const Json& json, const std::string& from) {
  const JsonReader reader(from, json);
  TimeSummary summary;
  summary.steps = reader.integer("steps").value_or(0);
  summary.total = reader.integer("total").value_or(0);
  summary.compute = reader.integer("compute").value_or(0);
  summary.communication = reader.integer("communication").value_or(0);
  summary.data = reader.integer("data").value_or(0);
  summary.idle = reader.integer("idle").value_or(0);
  return summary;
}

}  // namespace hpcboot::profile
