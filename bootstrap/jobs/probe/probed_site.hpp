#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

// What a scheduler's own commands say of a machine, as a profile for `hpcboot script`.
namespace hpcboot::jobscripts {

/// The output of a command; nullopt if there is none such or it failed.
using Ask = std::function<std::optional<std::string>(const std::vector<std::string>&)>;

/// Hosts that are alike, of one partition or queue.
struct ProbedNodes {
  std::string queue;
  int count = 0;
  int gpus = 0;
  std::string gpu_type;
  int cores = 0;
  int memory_gb = 0;                 ///< 0: not known
  std::optional<int> limit_seconds;  ///< of the walltime; nullopt: none, or not known
  bool is_default = false;           ///< where jobs go that name no queue
};

struct ProbedSite {
  std::string cluster;    ///< its name; may be empty
  std::string scheduler;  ///< as in a profile
  std::string launcher;
  std::string documentation;
  std::string asked;  ///< the commands, for the head of the profile
  std::vector<ProbedNodes> nodes;
  bool requeue = true;
  std::string account;  ///< the user's own; may be empty
  std::string parallel_environment;
  std::string parallel_environment_of_one_host;
  std::vector<std::string> notes;  ///< what a person has to look at, a sentence each
};

/// Counts `one` with those that are like it.
void add_alike(std::vector<ProbedNodes>& all, const ProbedNodes& one);

/// Each null if its scheduler does not answer.
std::optional<ProbedSite> probe_slurm(const Ask& ask);
std::optional<ProbedSite> probe_pbs(const Ask& ask);
std::optional<ProbedSite> probe_grid_engine(const Ask& ask);
std::optional<ProbedSite> probe_lsf(const Ask& ask);

/// The hosts that scripts ask for: those with GPUs, if there are any, and of these the ones of the
/// default queue, or else the most.
/// @param nodes not empty
const ProbedNodes& chosen_nodes(const std::vector<ProbedNodes>& nodes);

/// The text of a profile, with the other kinds of hosts as comments.
/// @throws Error{backend_unavailable} if no hosts are known
std::string profile_of(const ProbedSite& site);

/// The profile of the scheduler that answers, Slurm first: Slurm may have PBS's and Grid Engine's
/// commands, too. @param scheduler of a profile, the only one that is asked; empty: all
/// @throws Error{backend_unavailable} if none answers; Error{malformed_value} for another scheduler
std::string probe(const Ask& ask, const std::string& scheduler = "");

}  // namespace hpcboot::jobscripts
