#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "profile/trace_event.hpp"

namespace hpcboot::profile {

/// What a trace says of the rank that it was recorded on.
struct TraceOrigin {
  int rank = 0;
  int world_size = 1;
  std::string host;
  std::string backend;  ///< of its collectives; empty for a single process
  /// How many nanoseconds its clock is ahead of rank 0's.
  std::int64_t clock_ahead = 0;
};

/// How much of a recording is in a file.
struct TraceSize {
  std::int64_t events = 0;
  std::int64_t dropped = 0;  ///< the latest ones, which would have exceeded the limit
};

/// Writes a recording in the format of PyTorch's profiler, which Perfetto, chrome://tracing and
/// TensorBoard read: the Trace Event Format
/// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU), an event per
/// line. The file appears complete, or not at all.
///
/// A process of the trace is the host's side of a rank, or one of its GPUs; a thread is a thread of
/// the program, or a stream. Collectives that overlap are on threads of their own.
/// @param recording sorted
/// @param most_bytes about the largest size of the file
/// @throws Error{unwritable_output}
TraceSize write_trace(const std::filesystem::path& path, const TraceOrigin& origin,
                      const Recording& recording, std::int64_t most_bytes);

}  // namespace hpcboot::profile
