#pragma once

#include <cstdint>
#include <string>

#include "profile/trace_event.hpp"

namespace hpcboot::profile {

/// Lanes from here on are the threads of the batch loader.
constexpr std::int64_t kLoaderLanes = 1'000'000;

/// The rank that a recording was made on.
struct TraceOrigin {
  int rank = 0;
  int world_size = 1;
  std::string host;
  std::string backend;           ///< of its collectives; empty for a single process
  std::int64_t clock_ahead = 0;  ///< nanoseconds; of its clock, over that of rank 0
};

/// LibTorch 1 counts whole microseconds. So are the start of a trace and the differences
/// between clocks, or an operation would end a hair after the one that it is part of once a reader
/// adds start and duration as doubles.
constexpr std::int64_t in_whole_microseconds(std::int64_t nanoseconds) {
  return nanoseconds / 1000 * 1000;
}

/// How much of a recording is in a trace.
struct TraceSize {
  std::int64_t events = 0;
  std::int64_t dropped = 0;  ///< the latest ones, which would have exceeded the limit
};

/// The events of a trace, a line each, in the format of PyTorch's profiler: the Trace Event Format
/// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). Those of
/// several ranks can be joined by ",\n".
///
/// A process of the trace is the host's side of a rank, or one of its GPUs; a thread is a thread of
/// the program, or a stream. Collectives that overlap are on threads of their own.
/// @param recording sorted
/// @param base time 0 of the trace: nanoseconds since the epoch, by rank 0's clock
/// @param most_bytes about the largest length
std::string trace_events(const TraceOrigin& origin, const Recording& recording, std::int64_t base,
                         std::int64_t most_bytes, TraceSize& size);

}  // namespace hpcboot::profile
