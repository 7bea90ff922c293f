#include "srun_command.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace hpcboot::run {
namespace {

using Words = std::vector<std::string>;

bool is_even(const std::vector<int>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [&](int count) { return count == tasks.front(); });
}

std::string names_of(const std::vector<HostRanks>& hosts) {
  std::string names;
  for (const HostRanks& host : hosts) names += (names.empty() ? "" : ",") + host.host;
  return names;
}

// srun's word for the protocol of the program's MPI; empty: srun knows best.
std::string protocol_of(const LauncherChoice& choice, const Surroundings& s) {
  const char* protocol = choice.needs == ProgramMpi::open_mpi ? "pmix"
                         : choice.needs == ProgramMpi::mpich  ? "pmi2"
                                                              : nullptr;
  if (protocol == nullptr || s.env.has("SLURM_MPI_TYPE")) return "";
  const bool is_known = s.output_of({"srun", "--mpi=list"}).find(protocol) != std::string::npos;
  return is_known ? protocol : "";
}

}  // namespace

// srun(1).
void write_srun(Plan& plan, const RunRequest& request, const Surroundings& s,
                const LauncherChoice& choice, const std::vector<int>& tasks, int threads) {
  const auto add = [&](const Words& words) {
    plan.words.insert(plan.words.end(), words.begin(), words.end());
  };
  const std::vector<HostRanks>& hosts = plan.layout.hosts;
  add({"srun", "--nodes=" + std::to_string(tasks.size()),
       "--ntasks=" + std::to_string(std::accumulate(tasks.begin(), tasks.end(), 0))});
  plan.unset.emplace_back("SLURM_EXPORT_ENV");  // NONE would withhold the secret from the ranks
  if (is_even(tasks)) {
    add({"--ntasks-per-node=" + std::to_string(tasks.front())});
    plan.unset.emplace_back(kHostfileVariable);
    if (s.allocation && s.allocation->hosts.size() > tasks.size())
      add({"--nodelist=" + names_of(hosts)});
  } else {
    add({"--distribution=arbitrary"});
    plan.unset.emplace_back("SLURM_NTASKS_PER_NODE");
    plan.set[kHostfileVariable] = kHostfileWord;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (int task = 0; task < tasks[i]; ++task) plan.hostfile += hosts[i].host + "\n";
    }
  }
  // Since Slurm 22.05 srun does not inherit this from the job: without it a task has one core. If
  // there are more ranks than tasks, each rank gets fewer.
  if (s.env.has("SLURM_CPUS_PER_TASK")) {
    const int ranks = request.torchrun ? hosts.front().ranks : 1;
    add({"--cpus-per-task=" + std::to_string(std::int64_t{threads} * ranks)});
  }
  add({"--input=0", "--kill-on-bad-exit=1", "--wait=60", "--export=ALL"});
  if (request.chdir) add({"--chdir=" + *request.chdir});
  if (request.oversubscribe) add({"--overcommit"});
  if (const std::string protocol = protocol_of(choice, s); !protocol.empty())
    add({"--mpi=" + protocol});
}

}  // namespace hpcboot::run
