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

// What the verbs about a user's jobs have in common.
namespace hpcboot::tool {

// Commands of schedulers, which may have much to do.
CommandResult run_for_queue(const std::vector<std::string>& words);

// --scheduler S
options::Group queue_options();

// The scheduler of this machine, as --scheduler chooses; null if none answers.
std::unique_ptr<queue::Queue> queue_as_asked(const options::po::variables_map& values,
                                             const Env& env);

// The same, but of another scheduler if it was that to which hpcboot submitted the job: a machine
// may have two. @param id empty: of the job that was submitted last
std::unique_ptr<queue::Queue> queue_of_job(const options::po::variables_map& values, const Env& env,
                                           const queue::SubmittedJobs& memory,
                                           const std::string& id);

// @throws Error{backend_unavailable} in place of null
std::unique_ptr<queue::Queue> require_queue(std::unique_ptr<queue::Queue> queue);

// @throws UsageError for what is no job's id
void require_job_id(const std::string& id);

// The exit code by which hpcboot tells how a job ended: its own, or 1 if that is not known and it
// did not end well.
int exit_code_of(const queue::QueuedJob& job);

// "job 12 ended: completed, exit code 0"
std::string news_of_end(const queue::QueuedJob& job);

// A part of a job's output on standard output as it is, like `hpcboot run` shows its ranks'.
// @return false if it cannot be written
bool show_output(const std::string& part);

// Waits until a job has ended, however long that takes, and shows meanwhile what it writes.
class JobWatch {
 public:
  // @param shows_output what the job writes goes to standard output
  JobWatch(const queue::Queue& queue, const queue::SubmittedJobs& memory, bool shows_output)
      : queue_(queue), memory_(memory), shows_output_(shows_output) {}

  // Files that it is known to write to, whatever the scheduler says.
  void add_output(const std::vector<std::string>& files) { log_.add(files); }

  // Of what is there already, only so many lines are shown.
  void skip_to_last(std::size_t lines) { last_lines_ = lines; }

  // @return as it was when it had ended. @throws Error{backend_unavailable} if the scheduler has
  // not answered for ten minutes
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
  std::future<std::optional<queue::KnownJob>> answer_;  // that is waited for
  std::optional<queue::QueuedJob> job_;                 // as it was told last
  std::string told_;                                    // of its state, to the user
  Time answered_ = std::chrono::steady_clock::now();
  Time seen_ = answered_;    // the scheduler knew it
  Time next_ = answered_;    // it is asked then
  std::optional<Time> end_;  // the job has ended, and what it wrote is there by then
  std::chrono::seconds pause_{1};
};

}  // namespace hpcboot::tool
