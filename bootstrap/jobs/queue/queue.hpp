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

// The jobs of a scheduler, as its users see them from a login node: one interface to squeue, qstat,
// bjobs and flux jobs.
namespace hpcboot::queue {

enum class JobStage { waiting, running, ended };

struct QueuedJob {
  std::string id;  ///< as the scheduler's commands accept it
  std::string name;
  JobStage stage = JobStage::waiting;
  std::string state;               ///< in the scheduler's words: "pending", "timeout"
  std::optional<int> exit_code{};  ///< of an ended job; 128 + n after signal n
  int nodes = 0;                   ///< 0: the scheduler does not say
  std::optional<WallTime> submitted{};
  std::optional<WallTime> start{};              ///< of a waiting job: the expected start, if known
  std::optional<WallTime> end{};                ///< when it ended
  std::optional<std::chrono::seconds> limit{};  ///< the walltime
  std::string reason{};                         ///< why it waits, in the scheduler's words
  std::string hosts{};                          ///< where it runs
  std::vector<std::string> output{};            ///< the files it writes to, if known
};

/// Runs a command of the scheduler.
using RunCommand = std::function<CommandResult(const std::vector<std::string>&)>;

/// A scheduler that answers. If it stops answering, the functions throw Error{backend_unavailable}
/// with the command and its output.
class Queue {
 public:
  virtual ~Queue() = default;

  /// "slurm", "pbs" (also for Torque), "sge", "lsf" or "flux".
  virtual std::string scheduler() const = 0;

  /// The name of the cluster; empty if it has none. Clusters may share a file system.
  virtual std::string cluster() const { return ""; }

  /// The waiting and running jobs of this user, and those that ended recently.
  virtual std::vector<QueuedJob> jobs() const = 0;

  /// One of them, with all details; nullopt if the scheduler does not know it, or no longer does.
  virtual std::optional<QueuedJob> job(const std::string& id) const = 0;

  /// The command that ends a job.
  virtual std::vector<std::string> cancel_command(const std::string& id) const = 0;
};

/// Adapts `run` for probes: the output of a command; nullopt if it fails.
jobscripts::Ask ask_by(const RunCommand& run);

/// The scheduler of this machine. @param scheduler the only one to try; empty: all
/// @return null if none answers
std::unique_ptr<Queue> queue_here(const Env& env, const RunCommand& run,
                                  const std::string& scheduler = "");

/// Each returns null if its scheduler does not answer. `env` is copied.
std::unique_ptr<Queue> slurm_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> pbs_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> grid_engine_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> lsf_queue(const Env& env, const RunCommand& run);
std::unique_ptr<Queue> flux_queue(const Env& env, const RunCommand& run);

/// The output of a command about one job; nullopt if it fails and prints one of the `unknown`
/// texts.
/// @throws Error{backend_unavailable} if it fails otherwise
std::optional<std::string> answer_about_job(const RunCommand& run,
                                            const std::vector<std::string>& words,
                                            const std::vector<std::string>& unknown);

/// The output of a command. @throws Error{backend_unavailable} if it does not exist or fails
std::string answer_of(const RunCommand& run, const std::vector<std::string>& words);

/// Whether an ended job has succeeded: some end with the exit code 0 at their walltime.
bool has_succeeded(const QueuedJob& job);

/// Combines the tasks of an array into one job: it has ended when all tasks have, with the result
/// of the first task that failed, and has the output of all. @param tasks not empty
QueuedJob merged(const std::vector<QueuedJob>& tasks);

/// Adds the entries of `more` that are missing in `files`.
void add_files(std::vector<std::string>& files, const std::vector<std::string>& more);

/// Splits lines into columns separated by |; the last column may contain | itself. Lines with fewer
/// columns are skipped.
std::vector<std::vector<std::string>> rows_in(const std::string& text, std::size_t columns);

/// The user name of this process; the user id if it has no name.
std::string user_name();

/// Parses seconds since 1970; nullopt for anything else, for 0, and for implausible times.
std::optional<WallTime> time_of_epoch(const std::string& text);

/// An integer in the range of exit statuses, of either sign; nullopt for anything else.
std::optional<int> exit_status_in(const std::string& text);

/// "PENDING" becomes "pending".
std::string lower_case(std::string text);

}  // namespace hpcboot::queue
