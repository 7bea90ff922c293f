#include "profile/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "profile/trace_lines.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::profile {
namespace {

// Which process of the trace a rank's host side, or one of its GPUs, is. Perfetto takes process 0
// for the idle process of the kernel.
constexpr int kProcessesOfRank = 64;

std::int64_t process_of(int rank, int device) {
  return std::int64_t{rank} * kProcessesOfRank + device + 2;
}

const char* category_of(EventKind kind) {
  switch (kind) {
    case EventKind::operation:
      return "cpu_op";
    case EventKind::range:
      return "user_annotation";
    case EventKind::collective:
      return "user_annotation";
    case EventKind::wait:
      return "user_annotation";
    case EventKind::runtime:
      return "cuda_runtime";
    case EventKind::kernel:
      return "kernel";
    case EventKind::copy:
      return "gpu_memcpy";
  }
  return "";
}

Json arguments_of(const TraceEvent& event) {
  Json arguments = Json::object();
  if (event.correlation != 0) arguments["External id"] = event.correlation;
  if (!event.shapes.empty()) arguments["Input Dims"] = event.shapes;
  if (!event.types.empty()) arguments["Input type"] = event.types;
  if (event.flops != 0) arguments["flops"] = event.flops;
  return arguments;
}

/// Numbers the threads of a rank's trace. TensorBoard's plugin does not look at their processes, so
/// that no two ranks may have the same.
class Threads {
 public:
  explicit Threads(int rank) : first_(std::int64_t{rank} * kThreadsOfRank + 1) {}

  std::int64_t thread_of(const TraceEvent& event) {
    const std::int64_t lane =
        event.kind == EventKind::collective ? kCollectives - free_lane(event) : event.lane;
    const auto next = first_ + static_cast<std::int64_t>(numbers_.size());
    return numbers_.insert({{event.device, lane}, next}).first->second;
  }

 private:
  static constexpr int kThreadsOfRank = 10'000;
  static constexpr std::int64_t kCollectives = -1;  // and below: no lane of an event

  /// Collectives that are under way at the same time are on different threads.
  std::int64_t free_lane(const TraceEvent& event) {
    auto lane = std::find_if(ends_.begin(), ends_.end(),
                             [&](std::int64_t end) { return end <= event.begin; });
    if (lane == ends_.end()) lane = ends_.insert(ends_.end(), 0);
    *lane = event.end();
    return lane - ends_.begin();
  }

  std::int64_t first_;
  std::map<std::pair<int, std::int64_t>, std::int64_t> numbers_;  // by device and lane
  std::vector<std::int64_t> ends_;                                // of the collectives' lanes
};

Json metadata(const char* what, std::int64_t process, std::int64_t thread, Json value) {
  const bool is_name = std::string_view(what).find("name") != std::string_view::npos;
  return {{"ph", "M"},      {"name", what},
          {"pid", process}, {"tid", thread},
          {"ts", 0},        {"args", {{is_name ? "name" : "sort_index", std::move(value)}}}};
}

std::string name_of_thread(const TraceEvent& event, std::int64_t main_lane) {
  if (event.device >= 0) return fmt::format("stream {}", event.lane);
  if (event.kind == EventKind::collective) return "collectives";
  if (event.lane >= kLoaderLanes) return fmt::format("loader {}", event.lane - kLoaderLanes);
  return event.lane == main_lane ? "training" : fmt::format("thread {}", event.lane);
}

}  // namespace

TraceSize write_trace(const std::filesystem::path& path, const TraceOrigin& origin,
                      const Recording& recording, std::int64_t most_bytes) {
  TraceLines lines(
      path,
      {origin.rank, origin.world_size, origin.backend, begin_of(recording), origin.clock_ahead},
      most_bytes);

  std::int64_t main_lane = 0;
  std::set<int> devices{-1};
  for (const TraceEvent& event : recording.events) {
    devices.insert(event.device);
    if (event.name.compare(0, kStep.size(), kStep) == 0) main_lane = event.lane;
  }
  for (const int device : devices) {
    const std::int64_t process = process_of(origin.rank, device);
    lines.add(metadata("process_name", process, 0,
                       fmt::format("rank {} ({}, {})", origin.rank, origin.host,
                                   device < 0 ? "CPU" : fmt::format("GPU {}", device))));
    lines.add(metadata("process_sort_index", process, 0, process));
  }

  Threads threads(origin.rank);
  std::set<std::int64_t> named;
  std::map<int, std::int64_t> allocated;  // by device
  auto change = recording.memory.begin();
  const auto add_memory_until = [&](std::int64_t time) {
    for (; change != recording.memory.end() && change->time <= time; ++change) {
      allocated[change->device] += change->bytes;
      lines.add_event({{"ph", "C"},
                       {"name", "memory allocated since the start of the trace"},
                       {"pid", process_of(origin.rank, change->device)},
                       {"tid", 0},
                       {"args", {{"bytes", allocated[change->device]}}}},
                      change->time);
    }
  };
  for (const TraceEvent& event : recording.events) {
    add_memory_until(event.begin);
    const std::int64_t process = process_of(origin.rank, event.device);
    const std::int64_t thread = threads.thread_of(event);
    if (named.insert(thread).second)
      lines.add(metadata("thread_name", process, thread, name_of_thread(event, main_lane)));
    Json json = {{"ph", "X"},
                 {"cat", category_of(event.kind)},
                 {"name", event.name},
                 {"pid", process},
                 {"tid", thread}};
    json["dur"] = microseconds(event.duration);
    json["args"] = arguments_of(event);
    lines.add_event(std::move(json), event.begin);
  }
  add_memory_until(std::numeric_limits<std::int64_t>::max());
  return lines.commit();
}

}  // namespace hpcboot::profile
