#include "srun_command.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/launchers/slurm_components.hpp"
#include "hpcboot/error.hpp"
#include "layout.hpp"

namespace hpcboot::run {
namespace {

using Words = std::vector<std::string>;

// srun's word for the protocol of the program's MPI; empty: srun knows best.
std::string protocol_of(const LauncherChoice& choice, const Surroundings& s) {
  const char* protocol = choice.needs == ProgramMpi::open_mpi ? "pmix"
                         : choice.needs == ProgramMpi::mpich  ? "pmi2"
                                                              : nullptr;
  if (protocol == nullptr || s.env.has("SLURM_MPI_TYPE")) return "";
  const bool is_known = s.output_of({"srun", "--mpi=list"}).find(protocol) != std::string::npos;
  return is_known ? protocol : "";
}

// srun(1).
class SrunCommand {
 public:
  SrunCommand(Plan& plan, const RunRequest& request, const Surroundings& s,
              const LauncherChoice& choice, const std::vector<int>& tasks)
      : plan_(plan),
        request_(request),
        s_(s),
        tasks_(tasks),
        hosts_(plan.layout.hosts),
        protocol_(protocol_of(choice, s)),
        has_components_(hosts_.back().component > 0) {}

  void write(const Words& rank) {
    plan_.unset.emplace_back("SLURM_EXPORT_ENV");  // NONE would withhold the secret from the ranks
    add({"srun"});
    for (std::size_t first = 0; first < hosts_.size();) {
      std::size_t last = first;
      while (last < hosts_.size() && hosts_[last].component == hosts_[first].component) ++last;
      if (first > 0) add({":"});
      part(first, last);
      add(request_.launcher_args);
      add(rank);
      first = last;
    }
  }

 private:
  void add(const Words& words) {
    plan_.words.insert(plan_.words.end(), words.begin(), words.end());
  }

  // The options for the hosts of a component, or for all.
  void part(std::size_t first, std::size_t last) {
    const std::vector<int> tasks(tasks_.begin() + static_cast<std::ptrdiff_t>(first),
                                 tasks_.begin() + static_cast<std::ptrdiff_t>(last));
    if (has_components_) add({"--het-group=" + std::to_string(hosts_[first].component)});
    add({"--nodes=" + std::to_string(tasks.size()),
         "--ntasks=" + std::to_string(std::accumulate(tasks.begin(), tasks.end(), 0))});
    const bool is_even = std::count(tasks.begin(), tasks.end(), tasks.front()) ==
                         static_cast<std::ptrdiff_t>(tasks.size());
    if (is_even) {
      add({"--ntasks-per-node=" + std::to_string(tasks.front())});
      plan_.unset.emplace_back(kHostfileVariable);
      if (leaves_hosts_out(plan_.layout, s_)) {
        add({"--nodelist=" + host_names({hosts_.begin() + static_cast<std::ptrdiff_t>(first),
                                         hosts_.begin() + static_cast<std::ptrdiff_t>(last)})});
      }
    } else {
      arbitrary(tasks);
    }
    add_cpus(first, last);
    // Rank 0 alone reads standard input.
    add({first == 0 ? "--input=0" : "--input=none", "--kill-on-bad-exit=1", "--wait=60",
         "--export=ALL"});
    if (request_.chdir) add({"--chdir=" + *request_.chdir});
    if (request_.oversubscribe) add({"--overcommit"});
    if (!protocol_.empty()) add({"--mpi=" + protocol_});
  }

  // By a file, which is one for all components.
  void arbitrary(const std::vector<int>& tasks) {
    if (has_components_) {
      throw Error(ErrorCode::inconsistent_placement,
                  "different numbers of ranks on the hosts of one component of this job",
                  "the same number of ranks on all hosts of a component",
                  "give --ranks-per-node, or no -n");
    }
    add({"--distribution=arbitrary"});
    plan_.unset.emplace_back("SLURM_NTASKS_PER_NODE");
    plan_.set[kHostfileVariable] = kHostfileWord;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (int task = 0; task < tasks[i]; ++task) plan_.hostfile += hosts_[i].host + "\n";
    }
  }

  // Since Slurm 22.05 srun does not inherit this from the job: without it a task has one core. If
  // there are more ranks than tasks, each rank gets fewer.
  void add_cpus(std::size_t first, std::size_t last) {
    constexpr const char* kCpus = "SLURM_CPUS_PER_TASK";
    const int component = hosts_[first].component;
    if (!s_.env.has(kCpus) && slurm_component_variable(s_.env, kCpus, component).empty()) return;
    int threads = hosts_[first].threads;
    for (std::size_t i = first; i < last; ++i) threads = std::min(threads, hosts_[i].threads);
    const int ranks = request_.torchrun ? hosts_[first].ranks : 1;
    add({"--cpus-per-task=" + std::to_string(std::int64_t{threads} * ranks)});
  }

  Plan& plan_;
  const RunRequest& request_;
  const Surroundings& s_;
  const std::vector<int>& tasks_;
  const std::vector<HostRanks>& hosts_;
  const std::string protocol_;
  const bool has_components_;
};

}  // namespace

void write_srun(Plan& plan, const RunRequest& request, const Surroundings& s,
                const LauncherChoice& choice, const std::vector<int>& tasks,
                const std::vector<std::string>& rank) {
  SrunCommand(plan, request, s, choice, tasks).write(rank);
}

}  // namespace hpcboot::run
