#include "profile/trace_event.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace hpcboot::profile {
namespace {

/// Whether the events of a lane nest. Those of other kinds are not calls of one thread.
bool nests(const TraceEvent& event) {
  return event.device < 0 && event.kind != EventKind::collective;
}

}  // namespace

Recording sorted(Recording recording) {
  std::stable_sort(recording.events.begin(), recording.events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
                   });
  std::stable_sort(recording.memory.begin(), recording.memory.end(),
                   [](const MemoryChange& a, const MemoryChange& b) { return a.time < b.time; });
  // LibTorch 1.13 cuts times to whole microseconds: a call may seem to end after its caller, which
  // viewers of traces take for an error.
  std::map<std::int64_t, std::vector<std::int64_t>> ends;  // by lane, the innermost last
  for (TraceEvent& event : recording.events) {
    if (!nests(event)) continue;
    auto& open = ends[event.lane];
    while (!open.empty() && open.back() <= event.begin) open.pop_back();
    if (!open.empty() && event.end() > open.back()) event.duration = open.back() - event.begin;
    open.push_back(event.end());
  }
  return recording;
}

std::int64_t begin_of(const Recording& recording) {
  if (recording.memory.empty())
    return recording.events.empty() ? 0 : recording.events.front().begin;
  const std::int64_t change = recording.memory.front().time;
  return recording.events.empty() ? change : std::min(change, recording.events.front().begin);
}

}  // namespace hpcboot::profile
