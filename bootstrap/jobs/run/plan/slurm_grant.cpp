#include "slurm_grant.hpp"

#include <algorithm>

#include "core/launchers/slurm_components.hpp"
#include "hpcboot/hostlist.hpp"
#include "slurm_gpus.hpp"

namespace hpcboot::run {
namespace {

using Hosts = std::vector<GrantedHost>;

// Reads the variables of a job, or of a component of a heterogeneous one.
class Job {
 public:
  Job(const Env& env, std::optional<int> component) : env_(env), component_(component) {}

  bool has_asked_for_ranks() const {
    return env_.has(name_of("SLURM_NTASKS")) || env_.has(name_of("SLURM_NTASKS_PER_NODE"));
  }

  // --gpus-per-node ("2", "a100:2"), as salloc passes it to a shell on the login node, or --gpus,
  // whose distribution among several nodes is Slurm's.
  std::optional<int> gpus_per_node(std::ptrdiff_t nodes) const {
    if (const auto gpus = number_of("SLURM_GPUS_PER_NODE")) return gpus;
    return nodes == 1 ? number_of("SLURM_GPUS") : std::nullopt;
  }

  bool has_gpus_of_all_hosts() const {
    return env_.has("SLURM_GPUS") && !env_.has("SLURM_GPUS_PER_NODE");
  }

  // Slurm grants CPUs; the number of tasks is only a request, which srun may exceed up to the CPUs.
  void count_cpus(Hosts::iterator first, Hosts::iterator last) const {
    const auto of_a_rank = env_.integer(name_of("SLURM_CPUS_PER_TASK"), 1);
    const std::string variable = name_of("SLURM_JOB_CPUS_PER_NODE");
    const auto list = env_.text(variable);
    const auto cpus = list ? hostlist::expand_counts(*list, variable) : std::vector<int>();
    const bool are_known = cpus.size() == static_cast<std::size_t>(last - first);
    for (auto host = first; host != last; ++host) {
      host->cpus_of_a_rank = of_a_rank;
      if (!are_known) continue;
      host->cpus = cpus[static_cast<std::size_t>(host - first)];
      host->limit = std::max(host->slots, host->cpus);
    }
  }

 private:
  std::string name_of(const char* name) const {
    return component_ ? slurm_component_variable(env_, name, *component_) : name;
  }

  std::optional<int> number_of(const char* name) const {
    const auto value = env_.text(name_of(name));
    return value ? slurm_gpus_in(*value) : std::nullopt;
  }

  const Env& env_;
  std::optional<int> component_;
};

void take_components(Granted& granted, const std::vector<int>& components, const Env& env) {
  bool is_gpu_job = false;
  for (auto first = granted.hosts.begin(); first != granted.hosts.end();) {
    const int component = components[static_cast<std::size_t>(first - granted.hosts.begin())];
    const auto nodes = std::count(components.begin(), components.end(), component);
    const auto last = first + nodes;
    const Job job(env, component);
    granted.has_asked_for_ranks = granted.has_asked_for_ranks || job.has_asked_for_ranks();
    const auto gpus = job.gpus_per_node(nodes);
    is_gpu_job = is_gpu_job || gpus;
    for (auto host = first; host != last; ++host) {
      host->component = component;
      host->gpus = gpus;
    }
    job.count_cpus(first, last);
    first = last;
  }
  if (!is_gpu_job) return;
  for (GrantedHost& host : granted.hosts) host.gpus = host.gpus.value_or(0);
}

}  // namespace

void take_slurm(Granted& granted, const Surroundings& s) {
  const Env& env = s.env;
  const auto components = slurm_components(env);
  if (components && components->components.size() == granted.hosts.size()) {
    granted.has_asked_for_ranks = false;
    take_components(granted, components->components, env);
    return;
  }
  const Job job(env, std::nullopt);
  granted.has_asked_for_ranks = job.has_asked_for_ranks();
  granted.gpus = small_number(env.text("SLURM_GPUS_ON_NODE"));
  if (!granted.gpus) granted.gpus = job.gpus_per_node(granted.hosts.end() - granted.hosts.begin());
  if (job.has_gpus_of_all_hosts() && granted.hosts.size() > 1) count_slurm_gpus(granted, s);
  job.count_cpus(granted.hosts.begin(), granted.hosts.end());
}

}  // namespace hpcboot::run
