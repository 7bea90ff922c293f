#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "jobs/run/plan/plan.hpp"
#include "jobs/wall_time.hpp"

// The scheduler's job that `hpcboot run` is in: how long it may take, and how it is queued again.
namespace hpcboot::run {

// What the scheduler's commands report about the job now.
struct JobState {
  std::optional<WallTime> start;  // of this attempt
  std::optional<WallTime> end;    // of its walltime; nullopt: no limit, or unknown
  // The scheduler is about to end it, by preemption or because it was cancelled: what happens to it
  // is already decided.
  bool is_ending = false;
  // It is being preempted and has until `end` to stop. If it ends by itself before that, the
  // scheduler does not queue it again.
  bool is_preempted = false;
};

// A job that was queued again.
struct QueuedAgain {
  std::string how;               // for users: "scontrol requeue 12"; "qsub job.sh, as 13.server"
  std::string job_id;            // of the job that is queued now
  std::optional<int> exit_code;  // with which the job script must end for this to happen
  std::string note;              // what could not be done, for users; empty: nothing
};

class SchedulerJob {
 public:
  virtual ~SchedulerJob() = default;

  // In the form of the scheduler's commands, including the task of an array: "12_3",
  // "20[2].server".
  virtual std::string id() const = 0;

  // Queries the scheduler. @throws Error{backend_unavailable} with the command and its output
  virtual JobState state() const = 0;

  // In place with the same number if that is allowed; otherwise the job resubmits itself with its
  // actual allocation, variables and arguments, a task of an array alone.
  // @param bad_host to exclude, if the scheduler supports that; empty: none
  // @throws Error{backend_unavailable} with the command and its output, if neither is possible
  virtual QueuedAgain queue_again(const std::string& bad_host) = 0;
};

// nullptr outside a job and for an unknown scheduler. `s` must outlive it.
std::unique_ptr<SchedulerJob> job_of(const Surroundings& s);

// nullptr unless `s` shows that this process is in a job of that scheduler.
std::unique_ptr<SchedulerJob> slurm_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> pbs_job(const Surroundings& s);  // PBS Pro, OpenPBS and Torque
std::unique_ptr<SchedulerJob> grid_engine_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> lsf_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> flux_job(const Surroundings& s);

}  // namespace hpcboot::run
