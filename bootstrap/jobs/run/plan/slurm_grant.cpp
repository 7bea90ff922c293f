#include "slurm_grant.hpp"

#include <algorithm>

#include "hpcboot/hostlist.hpp"

namespace hpcboot::run {
namespace {

// --gpus-per-node, as salloc passes it to a shell on the login node: "2", "a100:2".
std::optional<int> gpus_per_node(const Env& env) {
  const auto text = env.text("SLURM_GPUS_PER_NODE");
  return text ? small_number(text->substr(text->rfind(':') + 1)) : std::nullopt;
}

}  // namespace

// Slurm grants CPUs; the number of tasks is only a request, which srun may exceed up to the CPUs.
void take_slurm(Granted& granted, const Env& env) {
  granted.has_asked_for_ranks = env.has("SLURM_NTASKS") || env.has("SLURM_NTASKS_PER_NODE");
  granted.gpus = small_number(env.text("SLURM_GPUS_ON_NODE"));
  if (!granted.gpus) granted.gpus = gpus_per_node(env);
  granted.cpus_of_a_rank = env.integer("SLURM_CPUS_PER_TASK", 1);
  constexpr const char* kCpus = "SLURM_JOB_CPUS_PER_NODE";
  const auto text = env.text(kCpus);
  std::vector<int> cpus = text ? hostlist::expand_counts(*text, kCpus) : std::vector<int>();
  const bool are_known = cpus.size() == granted.hosts.size();
  for (std::size_t i = 0; i < granted.hosts.size(); ++i) {
    GrantedHost& host = granted.hosts[i];
    host.cpus = are_known ? cpus[i] : 0;
    host.limit = are_known ? std::max(host.slots, host.cpus) : host.limit;
  }
}

}  // namespace hpcboot::run
