#pragma once

#include <cstdint>

#include "json/bounded_json.hpp"
#include "profile/trace_event.hpp"

namespace hpcboot::profile {

/// How a rank spent the steps that were recorded, in nanoseconds. The four parts add up to `total`,
/// because each moment counts once: for computing; else for communication, which is exposed then;
/// else for data; else it is idle.
///
/// With a GPU, its kernels and its own copies compute, and kernels of NCCL communicate: the
/// breakdown of Holistic Trace Analysis (https://hta.readthedocs.io, "temporal breakdown"). On the
/// CPU the forward and backward pass and the optimizer compute, except while they wait for a
/// collective.
struct TimeSummary {
  std::int64_t steps = 0;
  std::int64_t total = 0;
  std::int64_t compute = 0;
  std::int64_t communication = 0;  ///< exposed
  std::int64_t data = 0;           ///< the wait for the loader, and copies to the GPU
  std::int64_t idle = 0;           ///< nothing of these: the rest of the program
};

TimeSummary summarise(const Recording& recording);

Json to_json(const TimeSummary& summary);
/// @param from names the source in errors. @throws Error{malformed_file}
TimeSummary time_summary_from_json(const Json& json, const std::string& from);

}  // namespace hpcboot::profile
