#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "jobs/queue/job_log.hpp"
#include "jobs/queue/known_jobs.hpp"
#include "jobs/queue/queue.hpp"
#include "options/option.hpp"

// Shared by the verbs about a user's jobs.
namespace hpcboot::tool {

// Runs a scheduler's command, with limits for busy schedulers and long output.
CommandResult run_for_queue(const std::vector<std::string>& words);

// --scheduler S
options::Group queue_options();

// The scheduler of this machine, or the one given as --scheduler; null if none answers.
std::unique_ptr<queue::Queue> queue_as_asked(const options::po::variables_map& values,
                                             const Env& env);

// The same, or another scheduler if hpcboot submitted the job to that one: a machine may have two.
// @param id empty: the job that was submitted last
std::unique_ptr<queue::Queue> queue_of_job(const options::po::variables_map& values, const Env& env,
                                           const queue::SubmittedJobs& memory,
                                           const std::string& id);

// @param scheduler the only one that was asked; empty: all
// @throws Error{backend_unavailable} instead of returning null
std::unique_ptr<queue::Queue> require_queue(std::unique_ptr<queue::Queue> queue,
                                            const std::string& scheduler);

// @throws UsageError if it is not a job id
void require_job_id(const std::string& id);

// The exit code with which hpcboot reports how a job ended: the job's own, or 1 if it is unknown or
// if the job failed in spite of exit code 0.
int exit_code_of(const queue::QueuedJob& job);

// "job 12 ended: completed, exit code 0"
std::string news_of_end(const queue::QueuedJob& job);

// Prints a part of a job's output to standard output unchanged, as `hpcboot run` does for its
// ranks.
// @return false if it cannot be written
bool show_output(const std::string& part);

// Waits until a job has ended, however long that takes, and shows its output meanwhile.
class JobWatch {
 public:
  // @param shows_output what the job writes goes to standard output
  JobWatch(const queue::Queue& queue, const queue::SubmittedJobs& memory, bool shows_output)
      : queue_(queue), memory_(memory), shows_output_(shows_output) {}

  // Files that the job is known to write to, whatever the scheduler reports.
  void add_output(const std::vector<std::string>& files) { log_.add(files); }

  // Shows only the last `lines` lines of the existing output.
  void skip_to_last(std::size_t lines) { last_lines_ = lines; }

  // @return the job after it has ended. @throws Error{backend_unavailable} if the scheduler has not
  // answered for ten minutes
  queue::QueuedJob wait(const std::string& id);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void ask(const std::string& id);
  void take(const std::string& id, const std::optional<queue::KnownJob>& known);

  const queue::Queue& queue_;
  const queue::SubmittedJobs& memory_;
  bool shows_output_;
  std::optional<std::size_t> last_lines_;
  queue::JobLog log_{{}};
  std::future<std::optional<queue::KnownJob>> answer_;  // pending
  std::optional<queue::QueuedJob> job_;                 // as last reported
  std::string told_;                                    // its state, as last shown to the user
  Time answered_ = std::chrono::steady_clock::now();
  Time seen_ = answered_;    // when the scheduler last knew the job
  Time next_ = answered_;    // when the scheduler is asked again
  std::optional<Time> end_;  // set once the job has ended: when its output is complete
  std::chrono::seconds pause_{1};
};

}  // namespace hpcboot::tool
