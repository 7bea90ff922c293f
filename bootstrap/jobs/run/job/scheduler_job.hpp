#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "jobs/run/plan/plan.hpp"
#include "jobs/wall_time.hpp"

// The scheduler's job that `hpcboot run` is in: how long it may take, and how it is queued again.
namespace hpcboot::run {

// What the scheduler's commands say of the job now.
struct JobState {
  std::optional<WallTime> start;  // of this attempt
  std::optional<WallTime> end;    // of its walltime; nullopt: it has no limit, or nobody says
  // The scheduler is about to end it, by preemption or because somebody cancelled it: what becomes
  // of it is decided.
  bool is_ending = false;
  // It is to make room and has until `end` to do so. The scheduler will not queue it again if it
  // ends by itself before that.
  bool is_preempted = false;
};

// A job that was queued again.
struct QueuedAgain {
  std::string how;               // for people: "scontrol requeue 12"; "qsub job.sh, as 13.server"
  std::string job_id;            // of what is queued now
  std::optional<int> exit_code;  // that the job script has to end with, for this to happen
  std::string note;              // what could not be had, for people; empty: nothing
};

class SchedulerJob {
 public:
  virtual ~SchedulerJob() = default;

  // As the scheduler's commands take it, one task of an array by itself: "12_3", "20[2].server".
  virtual std::string id() const = 0;

  // Asks the scheduler. @throws Error{backend_unavailable} with the command and what it printed
  virtual JobState state() const = 0;

  // In place if that is allowed, with the same number; else the job submits itself, with what it
  // really was granted, its variables and its arguments, a task of an array alone.
  // @param bad_host to be left out, if the scheduler can do that; empty: none
  // @throws Error{backend_unavailable} with the command and what it printed, if neither is possible
  virtual QueuedAgain queue_again(const std::string& bad_host) = 0;
};

// nullptr outside a job, and for a scheduler that is not known. `s` has to outlive it.
std::unique_ptr<SchedulerJob> job_of(const Surroundings& s);

// One of each, if `s` says that this process is in a job of it.
std::unique_ptr<SchedulerJob> slurm_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> pbs_job(const Surroundings& s);  // PBS Pro, OpenPBS and Torque
std::unique_ptr<SchedulerJob> grid_engine_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> lsf_job(const Surroundings& s);
std::unique_ptr<SchedulerJob> flux_job(const Surroundings& s);

}  // namespace hpcboot::run
