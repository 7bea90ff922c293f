#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "attempts.hpp"
#include "jobs/run/plan/run_request.hpp"
#include "jobs/run/ranks/run_end.hpp"
#include "scheduler_job.hpp"
#include "text/terminal.hpp"
#include "walltime_clock.hpp"

namespace hpcboot::run {

// The run's interaction with its job: warns the ranks before the end of the walltime, and queues
// the job again if it must continue. Without --warn and --requeue the scheduler is never contacted.
class JobCourse {
 public:
  // @param s must outlive this.
  JobCourse(const RunRequest& request, const Surroundings& s, Terminal& err);

  // nullptr: no warning is sent.
  const WalltimeClock* clock() const { return clock_.get(); }

  // Queues the job again if that is its next step, and says so.
  // @return the exit code of `hpcboot run`
  int finish(const RunEnd& end);

 private:
  void start_clock();
  std::optional<WallTime> end_to_warn_of(const JobState& first);
  int queue_again(const RunEnd& end, int attempts_in_vain);

  const RunRequest& request_;
  Terminal& err_;
  Attempts attempts_;
  std::unique_ptr<SchedulerJob> job_;
  std::optional<std::chrono::seconds> walltime_;  // written by the clock's thread, if it has one
  std::unique_ptr<WalltimeClock> clock_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hpcboot::run
