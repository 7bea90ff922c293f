#include "next_step.hpp"

#include <algorithm>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

// A program that stops cleanly by itself within this time has hardly done anything.
constexpr std::chrono::seconds kShortRun{60};

// A program that is warned soon after its start has not done much either: earlier commands of the
// job took the time, and will do so again.
std::chrono::seconds short_run(const EndOfJob& end) {
  if (!end.run.was_warned) return kShortRun;
  if (!end.walltime) return std::chrono::seconds(0);
  return std::min(kShortRun, (*end.walltime - end.warning) / 4);
}

NextStep in_vain(const EndOfJob& end, const std::string& reason) {
  const int attempts = end.attempts_in_vain + 1;
  if (attempts > end.retries) {
    return {false, attempts,
            reason + ", in " + std::to_string(attempts) +
                " attempts in a row without progress: the job is not queued again (--retries " +
                std::to_string(end.retries) + ")"};
  }
  return {true, attempts, reason};
}

}  // namespace

NextStep next_step(const EndOfJob& end) {
  const RunEnd& run = end.run;
  if (run.exit_code == 0) return {};
  if (end.is_preempted && !end.is_ending)
    return {true, 0, "the job was preempted, and the run ended before the scheduler ended the job"};
  if (run.asked_by != 0) return {false, 0, "the run was told to end: the job is not queued again"};
  if (end.is_ending)
    return {false, 0, "the scheduler is ending the job and decides whether to queue it again"};
  if (!run.lost_host.empty()) return in_vain(end, "host " + run.lost_host + " was lost");
  const bool has_stopped =
      run.exit_code == static_cast<int>(ErrorCode::stopped) || (end.is_torchrun && run.was_warned);
  if (!has_stopped) return {};
  if (end.walltime && *end.walltime <= end.warning) {
    return {false, 0,
            "the walltime of " + std::to_string(end.walltime->count()) +
                " s is not longer than the warning time of " + std::to_string(end.warning.count()) +
                " s: every attempt would end at once, so the job is not queued again; request a "
                "longer walltime"};
  }
  const std::string reason = "the program stopped cleanly";
  if (end.lasted < short_run(end)) return in_vain(end, reason);
  return {true, 0, reason};
}

}  // namespace hpcboot::run
