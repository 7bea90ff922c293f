#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot::profile {

/// Which steps of a run are profiled, in the terms of torch.profiler.schedule(): a cycle waits,
/// warms the profiler up, and then records steps. Recording everything would take too much memory.
struct ProfileSchedule {
  std::int64_t wait = 1;    ///< steps without the profiler, in which training settles
  std::int64_t warmup = 1;  ///< steps that are recorded and dropped: the first ones are slower
  std::int64_t active = 2;  ///< steps whose records are kept
  std::int64_t repeat = 1;  ///< cycles; 0: until the end of the run
};

/// "wait=1,warmup=1,active=2,repeat=1"; what is left out keeps its default.
/// @throws std::invalid_argument whose text continues a sentence about the option
ProfileSchedule parse_profile_schedule(std::string_view text);

/// The reverse, with all four parts.
std::string text_of(const ProfileSchedule& schedule);

enum class ProfilePhase { off, warmup, active };

/// The part of the schedule that a step is in.
struct ProfileStep {
  ProfilePhase phase = ProfilePhase::off;
  std::int64_t cycle = 1;    ///< from 1
  bool begins_part = false;  ///< the first step of its warm-up, or of its active steps
  bool ends_part = false;    ///< the last one
};

/// @param step from 0, counted from the start of the process
ProfileStep profile_step(const ProfileSchedule& schedule, std::int64_t step);

}  // namespace hpcboot::profile
