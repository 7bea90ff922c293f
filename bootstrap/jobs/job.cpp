#include "job.hpp"

#include <algorithm>

#include "hpcboot/error.hpp"
#include "toml/nearest_name.hpp"

namespace hpcboot::jobscripts {
namespace {

const Job kSingle{"single", "one process on one device", true, true, false};
const Job kDp{"dp", "DP: one process over all devices of a node", true, true, true};
const Job kDdp{"ddp", "DDP over the devices of one node", false, true, true};
const Job kMultinodeSrun{"multinode_srun", "DDP over several nodes, started by srun", false, false,
                         true};
const Job kMultinodeMpirun{"multinode_mpirun", "DDP over several nodes, started by mpirun", false,
                           false, true};
const Job kCompare{"compare", "every method in one allocation, then the runtime table", false,
                   false, true};
const Job kArray{"array", "a sweep: one task, and one process, for each set of options", true, true,
                 false};
const Job kPytorchjob{"pytorchjob", "DDP over pods, by Kubeflow's training operator", false, false,
                      true};

std::vector<std::string> names_of(const std::vector<Job>& jobs) {
  std::vector<std::string> names;
  names.reserve(jobs.size());
  for (const Job& job : jobs) names.push_back(job.name);
  return names;
}

}  // namespace

std::vector<Job> jobs_of(const SiteProfile& site) {
  const std::string& scheduler = site.text("scheduler");
  if (scheduler == "kubernetes") return {kPytorchjob};
  std::vector<Job> jobs = {kSingle, kDp, kDdp};
  if (scheduler == "slurm") jobs.push_back(kMultinodeSrun);
  jobs.push_back(kMultinodeMpirun);
  jobs.push_back(kCompare);
  if (scheduler != "none") jobs.push_back(kArray);
  return jobs;
}

Job job_of(const SiteProfile& site, const std::string& name) {
  const std::vector<Job> jobs = jobs_of(site);
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == name; });
  if (found != jobs.end()) return *found;
  throw Error(ErrorCode::malformed_value, "the site " + site.name() + " has no job " + name,
              "one of " + listed(names_of(jobs)), remedy_for_name(name, names_of(jobs)));
}

JobLaunchers launchers_of(const SiteProfile& site, const Job& job, const std::string& chosen) {
  if (!chosen.empty()) {
    if (const auto problem = problem_of(*find_key("launcher"), chosen)) {
      throw Error(ErrorCode::malformed_value, "the launcher " + chosen + " " + *problem,
                  description_of(*find_key("launcher")), "correct --launcher");
    }
  }
  if (job.one_rank || job.name == kPytorchjob.name) return {};
  const std::string launcher = chosen.empty() ? site.text("launcher") : chosen;
  // The others start processes on the hosts that any scheduler, or none, gives.
  const std::string& scheduler = site.text("scheduler");
  const std::string needed = launcher == "srun"   ? "slurm"
                             : launcher == "pals" ? "pbs"
                             : launcher == "ssh"  ? "none"
                                                  : scheduler;
  if (scheduler != needed) {
    throw Error(ErrorCode::malformed_value,
                "the launcher " + launcher + " with the scheduler " + scheduler,
                launcher + " goes with " + needed, "choose another launcher: mpirun goes with all");
  }
  // A hostfile is about other machines: on this one alone mpirun needs none.
  const std::string one_node = launcher == "ssh" ? "mpirun" : launcher;
  if (job.one_node) return {one_node, {}};
  const bool own_mpirun = launcher == "pals" || launcher == "ssh";
  const std::string mpirun = own_mpirun || !chosen.empty() ? launcher : "mpirun";
  if (job.name == kMultinodeSrun.name) return {"", {chosen.empty() ? "srun" : chosen}};
  if (job.name == kMultinodeMpirun.name) return {"", {mpirun}};
  if (scheduler == "slurm" && chosen.empty()) return {one_node, {"srun", "mpirun"}};
  return {one_node, {mpirun}};
}

}  // namespace hpcboot::jobscripts
