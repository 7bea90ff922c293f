#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::profile {

// The ranges that the training loop marks. They are user scopes of LibTorch, so that every profiler
// of PyTorch shows them, too.
constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kDataWait = "wait for data";
constexpr const char* kCopyToDevice = "copy to device";
constexpr const char* kLoading = "load a batch";
/// Followed by the number of the step. PyTorch's tools recognise steps by this name.
constexpr std::string_view kStep = "ProfilerStep#";

enum class EventKind {
  operation,   ///< an operator of LibTorch, on the host
  range,       ///< a part of the program that it has marked
  collective,  ///< from its start to its end, whatever else the rank does meanwhile
  wait,        ///< the program waits for a collective
  runtime,     ///< a call of CUDA's runtime
  kernel,      ///< on a GPU
  copy,        ///< a copy or a memset on a GPU
};

/// Something that took time.
struct TraceEvent {
  std::string name;
  EventKind kind = EventKind::operation;
  std::int64_t begin = 0;     ///< nanoseconds since the epoch, by this host's clock
  std::int64_t duration = 0;  ///< nanoseconds
  std::int64_t lane = 0;      ///< the thread, or the stream of a GPU
  int device = -1;            ///< the GPU; -1 for the host
  std::vector<std::vector<std::int64_t>> shapes{};  ///< of the inputs
  std::vector<std::string> types{};                 ///< of the inputs
  std::uint64_t flops = 0;                          ///< floating-point operations; 0 if not known
  std::uint64_t correlation = 0;  ///< links a kernel to its launch and operator; 0: nothing

  std::int64_t end() const { return begin + duration; }
};

/// Whether the event is the range of a step.
inline bool is_step(const TraceEvent& event) {
  return event.kind == EventKind::range && event.name.compare(0, kStep.size(), kStep) == 0;
}

/// Memory that LibTorch allocated, or freed (negative).
struct MemoryChange {
  std::int64_t time = 0;  ///< as TraceEvent::begin
  std::int64_t bytes = 0;
  int device = -1;  ///< the GPU; -1 for host memory
};

/// What a profiler recorded on one rank.
struct Recording {
  std::vector<TraceEvent> events;    ///< by start; outer ones before those that they contain
  std::vector<MemoryChange> memory;  ///< by time
};

/// The events and changes in order.
Recording sorted(Recording recording);

/// The time of the first event or change; 0 if there is none. @param recording sorted
std::int64_t begin_of(const Recording& recording);

}  // namespace hpcboot::profile
