#include "profile/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "json/bounded_json.hpp"

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
    case EventKind::collective:
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

std::string quoted(const std::string& text) {
  return json_text(Json(text)).str();
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

std::string name_of_thread(const TraceEvent& event, std::int64_t main_lane) {
  if (event.device >= 0) return fmt::format("stream {}", event.lane);
  if (event.kind == EventKind::collective) return "collectives";
  if (event.lane >= kLoaderLanes) return fmt::format("loader {}", event.lane - kLoaderLanes);
  return event.lane == main_lane ? "training" : fmt::format("thread {}", event.lane);
}

/// What links events: the same number for the same collective on all ranks. TensorBoard's plugin
/// takes the merged trace for one more worker, counts the numbers of its collectives, and has no
/// distributed view if workers differ.
class Links {
 public:
  explicit Links(const std::vector<TraceEvent>& events) {
    for (const TraceEvent& event : events) {
      if (event.kind == EventKind::collective && event.device < 0 && event.correlation != 0)
        collectives_.emplace(event.correlation, kFirstCollective + collectives_.size());
    }
  }

  std::uint64_t of(const TraceEvent& event) const {
    const auto collective = collectives_.find(event.correlation);
    return collective == collectives_.end() ? event.correlation : collective->second;
  }

 private:
  static constexpr std::uint64_t kFirstCollective = std::uint64_t{1} << 40U;  // LibTorch's are less

  std::unordered_map<std::uint64_t, std::uint64_t> collectives_;
};

/// Assembles the lines. There are hundreds of thousands, so that they are not made as Json.
class Lines {
 public:
  Lines(std::int64_t base, std::int64_t clock_ahead, std::int64_t most_bytes)
      : base_(base + clock_ahead), most_bytes_(most_bytes) {}

  void add_metadata(std::string_view what, std::int64_t process, std::int64_t thread,
                    const std::string& argument) {
    append(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"ts":0,"args":{{{}}}}})", what,
                       process, thread, argument));
  }

  /// @param link as correlation
  void add(const TraceEvent& event, std::int64_t process, std::int64_t thread, std::uint64_t link) {
    fmt::memory_buffer line;
    const auto out = std::back_inserter(line);
    fmt::format_to(out,
                   R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)",
                   category_of(event.kind), name_of(event), process, thread,
                   micro(event.begin - base_), micro(event.duration));
    fmt::format_to(out, "\"args\":{{");
    const char* comma = "";
    const auto argument = [&](const char* name) {
      fmt::format_to(out, "{}\"{}\":", std::exchange(comma, ","), name);
    };
    if (link != 0) {
      argument("External id");
      fmt::format_to(out, "{}", link);
    }
    if (!event.shapes.empty()) {
      argument("Input Dims");
      const char* between = "[";
      for (const std::vector<std::int64_t>& shape : event.shapes)
        fmt::format_to(out, "{}[{}]", std::exchange(between, ","), fmt::join(shape, ","));
      fmt::format_to(out, "]");
    }
    if (!event.types.empty()) {
      argument("Input type");
      const char* between = "[";
      for (const std::string& type : event.types)
        fmt::format_to(out, "{}{}", std::exchange(between, ","), quoted_once(type));
      fmt::format_to(out, "]");
    }
    if (event.flops != 0) {
      argument("flops");
      fmt::format_to(out, "{}", event.flops);
    }
    fmt::format_to(out, "}}}}");
    add_event({line.data(), line.size()});
  }

  void add_memory(std::int64_t process, std::int64_t time, std::int64_t bytes) {
    add_event(fmt::format(
        R"({{"ph":"C","name":"memory allocated since the start of the trace","pid":{},"tid":0,)"
        R"("ts":{:.3f},"args":{{"bytes":{}}}}})",
        process, micro(time - base_), bytes));
  }

  std::string take(TraceSize& size) {
    size = size_;
    return std::move(text_);
  }

 private:
  static double micro(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

  const std::string& quoted_once(const std::string& text) {
    const auto known = quoted_.find(text);
    return known != quoted_.end() ? known->second
                                  : quoted_.emplace(text, quoted(text)).first->second;
  }
  const std::string& name_of(const TraceEvent& event) { return quoted_once(event.name); }

  void append(std::string_view line) {
    if (!text_.empty()) text_ += ",\n";
    text_ += line;
  }

  void add_event(std::string_view line) {
    if (static_cast<std::int64_t>(text_.size() + line.size()) > most_bytes_) {
      most_bytes_ = 0;  // a shorter event that follows would look as if nothing had come before it
      ++size_.dropped;
      return;
    }
    ++size_.events;
    append(line);
  }

  std::int64_t base_;  // by this rank's clock
  std::int64_t most_bytes_;
  TraceSize size_;
  std::string text_;
  std::unordered_map<std::string, std::string> quoted_;
};

}  // namespace

std::string trace_events(const TraceOrigin& origin, const Recording& recording, std::int64_t base,
                         std::int64_t most_bytes, TraceSize& size) {
  Lines lines(base, origin.clock_ahead, most_bytes);
  std::int64_t main_lane = 0;
  std::set<int> devices{-1};
  for (const TraceEvent& event : recording.events) {
    devices.insert(event.device);
    if (is_step(event)) main_lane = event.lane;
  }
  for (const int device : devices) {
    const std::int64_t process = process_of(origin.rank, device);
    const std::string side = device < 0 ? "CPU" : fmt::format("GPU {}", device);
    const std::string name = fmt::format("rank {} ({}, {})", origin.rank, origin.host, side);
    lines.add_metadata("process_name", process, 0, "\"name\":" + quoted(name));
    lines.add_metadata("process_sort_index", process, 0, fmt::format("\"sort_index\":{}", process));
  }

  Threads threads(origin.rank);
  const Links links(recording.events);
  std::set<std::int64_t> named;
  std::map<int, std::int64_t> allocated;  // by device
  auto change = recording.memory.begin();
  const auto add_memory_until = [&](std::int64_t time) {
    for (; change != recording.memory.end() && change->time <= time; ++change) {
      allocated[change->device] += change->bytes;
      lines.add_memory(process_of(origin.rank, change->device), change->time,
                       allocated[change->device]);
    }
  };
  for (const TraceEvent& event : recording.events) {
    add_memory_until(event.begin);
    const std::int64_t process = process_of(origin.rank, event.device);
    const std::int64_t thread = threads.thread_of(event);
    if (named.insert(thread).second) {
      lines.add_metadata("thread_name", process, thread,
                         "\"name\":" + quoted(name_of_thread(event, main_lane)));
    }
    lines.add(event, process, thread, links.of(event));
  }
  add_memory_until(std::numeric_limits<std::int64_t>::max());
  return lines.take(size);
}

}  // namespace hpcboot::profile
