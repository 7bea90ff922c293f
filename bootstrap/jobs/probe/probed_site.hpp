#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Turns the output of a scheduler's commands into a profile for `hpcboot script`.
namespace hpcboot::jobscripts {

/// Returns the output of a command; nullopt if it does not exist or failed.
using Ask = std::function<std::optional<std::string>(const std::vector<std::string>&)>;

/// Identical hosts of one partition or queue.
struct ProbedNodes {
  std::string queue;
  int count = 0;
  int gpus = 0;
  std::string gpu_type;
  int cores = 0;
  int memory_gb = 0;                 ///< 0: unknown
  std::optional<int> limit_seconds;  ///< of the walltime; nullopt: none, or unknown
  bool is_default = false;           ///< used by jobs that name no queue
};

struct ProbedSite {
  std::string cluster;    ///< its name; may be empty
  std::string scheduler;  ///< named as in a profile
  std::string launcher;
  std::string documentation;
  std::string asked;  ///< the commands, for the profile header
  std::vector<ProbedNodes> nodes;
  bool requeue = true;
  std::string account;  ///< the user's default account; may be empty
  std::string parallel_environment;
  std::string parallel_environment_of_one_host;
  std::vector<std::string> notes;  ///< what the user must check, one sentence each
};

/// Adds `one` to the identical nodes, or as a new kind.
void add_alike(std::vector<ProbedNodes>& all, const ProbedNodes& one);

/// Each returns nullopt if its scheduler does not answer.
std::optional<ProbedSite> probe_slurm(const Ask& ask);
std::optional<ProbedSite> probe_pbs(const Ask& ask);
std::optional<ProbedSite> probe_grid_engine(const Ask& ask);
std::optional<ProbedSite> probe_lsf(const Ask& ask);

/// The hosts that scripts request: preferably with GPUs, then of the default queue, then the most
/// numerous.
/// @param nodes not empty
const ProbedNodes& chosen_nodes(const std::vector<ProbedNodes>& nodes);

/// The text of a profile, with all kinds of hosts listed as comments.
/// @throws Error{backend_unavailable} if no hosts are known
std::string profile_of(const ProbedSite& site);

/// The profile from the scheduler that answers, Slurm first: Slurm may also install the commands of
/// PBS and Grid Engine. @param scheduler the only one to probe; empty: all
/// @throws Error{backend_unavailable} if none answers; Error{malformed_value} for an unknown one
std::string probe(const Ask& ask, const std::string& scheduler = "");

}  // namespace hpcboot::jobscripts
