#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "jobs/probe/probed_site.hpp"
#include "jobs/wall_time.hpp"
#include "process/command.hpp"

// The jobs of a scheduler, as its users see them from a login node: one way over squeue, qstat,
// bjobs and flux jobs.
namespace hpcboot::queue {

enum class JobStage { waiting, running, ended };

struct QueuedJob {
  std::string id;  ///< as the scheduler's commands take it
  std::string name;
  JobStage stage = JobStage::waiting;
  std::string state;               ///< the scheduler's word for it: "pending", "timeout"
  std::optional<int> exit_code{};  ///< of a job that ended; 128 + n after signal n
  int nodes = 0;                   ///< 0: the scheduler does not say
  std::optional<WallTime> submitted{};
  std::optional<WallTime> start{};  ///< of a job that waits: when it may start, if anybody knows
  std::optional<WallTime> end{};    ///< when it ended
  std::optional<std::chrono::seconds> limit{};  ///< its walltime
  std::string reason{};                         ///< why it waits, in the scheduler's words
  std::string hosts{};                          ///< where it runs
  std::vector<std::string> output{};            ///< the files it writes to, if they are known
};

/// Runs a command of the scheduler.
using RunCommand = std::function<CommandResult(const std::vector<std::string>&)>;

/// A scheduler that answers. What it throws, if it stops answering: Error{backend_unavailable} with
/// the command and what it printed.
class Queue {
 public:
  virtual ~Queue() = default;

  /// "slurm", "pbs" (Torque, too), "sge", "lsf" or "flux".
  virtual std::string scheduler() const = 0;

  /// Which of several it is; empty if it has no name. Folders may be shared by clusters.
  virtual std::string cluster() const { return ""; }

  /// Those of this user that wait or run, and those that ended a short time ago.
  virtual std::vector<QueuedJob> jobs() const = 0;

  /// One of them, with all that is known; nullopt if the scheduler does not know it, or not any
  /// more.
  virtual std::optional<QueuedJob> job(const std::string& id) const = 0;

  /// The command that ends a job.
  virtual std::vector<std::string> cancel_command(const std::string& id) const = 0;
};

/// What a command prints, for who only reads it; nullopt if it fails.
jobscripts::Ask ask_by(const RunCommand& run);

/// The scheduler of this machine. @param scheduler the only one to be asked; empty: all
/// @return null if none answers
std::unique_ptr<Queue> queue_here(const Env& env, const RunCommand& run,
                                  const std::string& scheduler = "");

/// Each null if its scheduler does not answer. `env` is copied.
std::unique_ptr<Queue> slurm_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> pbs_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> grid_engine_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> lsf_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> flux_queue(const Env& env, const RunCommand& run);

/// What a command says of one job; nullopt if it says, by one of these words, that it knows none.
/// @throws Error{backend_unavailable} if it fails otherwise
std::optional<std::string> answer_about_job(const RunCommand& run,
                                            const std::vector<std::string>& words,
                                            const std::vector<std::string>& unknown);

/// The answer of a command. @throws Error{backend_unavailable} if it is not there or fails
std::string answer_of(const RunCommand& run, const std::vector<std::string>& words);

/// An array as one job, of its tasks: it has ended when all have, and as the first that did not end
/// well; their output is its output. @param tasks not empty
QueuedJob merged(const std::vector<QueuedJob>& tasks);

/// Adds those of `more` that `files` does not have.
void add_files(std::vector<std::string>& files, const std::vector<std::string>& more);

/// Lines of so many columns between bars; the last column may hold bars itself. Other lines are
/// left out.
std::vector<std::vector<std::string>> rows_in(const std::string& text, std::size_t columns);

/// The name of this process's user; its number if it has no name.
std::string user_name();

/// Seconds since 1970; nullopt for anything else, for 0, and for a time that no job has.
std::optional<WallTime> time_of_epoch(const std::string& text);

/// A whole number that an exit status can be, of either sign; nullopt for anything else.
std::optional<int> exit_status_in(const std::string& text);

/// A text for people and a file for another program: "PENDING" is "pending".
std::string lower_case(std::string text);

}  // namespace hpcboot::queue
