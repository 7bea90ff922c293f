#include "job.hpp"

#include <algorithm>

#include "core/nearest_name.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::jobscripts {
namespace {

const Job kSingle{"single", "One process on one device", true, true, false};
const Job kDp{"dp", "DP: one process on all devices of a node", true, true, true};
const Job kDdp{"ddp", "DDP across the devices of one node", false, true, true};
const Job kMultinodeSrun{"multinode_srun", "DDP across several nodes, started by srun", false,
                         false, true};
const Job kMultinodeMpirun{"multinode_mpirun", "DDP across several nodes, started by mpirun", false,
                           false, true};
const Job kCompare{"compare", "Every method in one allocation, then the runtime table", false,
                   false, true};
const Job kArray{"array", "A sweep: one task with one process per set of options", true, true,
                 false};
const Job kPytorchjob{"pytorchjob", "DDP across pods, started by Kubeflow's training operator",
                      false, false, true};

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

std::vector<std::string> job_names() {
  return names_of(
      {kSingle, kDp, kDdp, kMultinodeSrun, kMultinodeMpirun, kCompare, kArray, kPytorchjob});
}

Job job_of(const SiteProfile& site, const std::string& name) {
  const std::vector<Job> jobs = jobs_of(site);
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == name; });
  if (found != jobs.end()) return *found;
  throw Error(ErrorCode::malformed_value, "the site " + site.name() + " has no job " + name,
              "one of " + listed(names_of(jobs)), remedy_for_name(name, names_of(jobs)));
}

}  // namespace hpcboot::jobscripts
