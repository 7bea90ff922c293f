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

// What a run has to do with the job that it is in: its ranks are warned before the walltime is
// over, and the job is queued again when it has to go on. Without --warn and --requeue the
// scheduler is not asked for anything.
class JobCourse {
 public:
  // @param s has to outlive this. @throws Error{missing_variable} for --requeue outside a job
  JobCourse(const RunRequest& request, const Surroundings& s, Terminal& err);

  // nullptr: nobody is warned.
  const WalltimeClock* clock() const { return clock_.get(); }

  // Queues the job again if that is its next step, and says so.
  // @return the exit code of `hpcboot run`
  int finish(const RunEnd& end);

 private:
  void start_clock();
  int queue_again(const RunEnd& end, int attempts_in_vain);

  const RunRequest& request_;
  Terminal& err_;
  Attempts attempts_;
  std::unique_ptr<SchedulerJob> job_;
  std::unique_ptr<WalltimeClock> clock_;
  std::optional<std::chrono::seconds> walltime_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hpcboot::run
