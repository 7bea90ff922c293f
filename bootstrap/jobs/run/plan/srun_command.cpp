#include "srun_command.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/launchers/slurm_components.hpp"
#include "hpcboot/error.hpp"
#include "layout.hpp"
#include "slurm_gpus.hpp"

namespace hpcboot::run {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kGpusPerTask = "SLURM_GPUS_PER_TASK";

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
    forget_other_layout();
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

  // What the job's options say about its tasks, but srun's options below contradict.
  void forget_other_layout() {
    forget("SLURM_NTASKS_PER_GPU");  // refused beside --ntasks-per-node
    forget("SLURM_NTASKS_PER_TRES");
    if (!request_.torchrun) return;
    // They are for a rank, but the only task of a host is the parent of its ranks.
    for (const char* name : {kGpusPerTask, "SLURM_TRES_PER_TASK", "SLURM_GPU_BIND"}) forget(name);
  }

  void forget(const char* name) {
    plan_.unset.emplace_back(name);
    for (int component = 0; component <= hosts_.back().component; ++component)
      plan_.unset.push_back(slurm_component_variable(s_.env, name, component));
  }

  // A variable of the job, or of this component.
  std::optional<std::string_view> text_of(const char* name, int component) const {
    const auto text = s_.env.text(name);
    return text ? text : s_.env.text(slurm_component_variable(s_.env, name, component));
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
    add_gpus(first, last);
    // Rank 0 alone reads standard input. A rank that has ended does not end the others, which may
    // still save or evaluate.
    add({first == 0 ? "--input=0" : "--input=none", "--kill-on-bad-exit=1", "--wait=0",
         "--export=ALL"});
    if (request_.chdir) add({"--chdir=" + *request_.chdir});
    if (request_.oversubscribe || exceeds_cpus(first, last)) add({"--overcommit"});
    if (!protocol_.empty()) add({"--mpi=" + protocol_});
  }

  // So are ranks of a job that asked for GPUs, and got fewer CPUs.
  bool exceeds_cpus(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) {
      if (hosts_[i].cpus > 0 && tasks_[i] > hosts_[i].cpus) return true;
    }
    return false;
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
    if (!text_of("SLURM_CPUS_PER_TASK", hosts_[first].component)) return;
    int threads = hosts_[first].threads;
    for (std::size_t i = first; i < last; ++i) threads = std::min(threads, hosts_[i].threads);
    const int ranks = request_.torchrun ? hosts_[first].ranks : 1;
    add({"--cpus-per-task=" + std::to_string(std::int64_t{threads} * ranks)});
  }

  // A step inherits the job's numbers: those of a task, or of all hosts together.
  void add_gpus(std::size_t first, std::size_t last) {
    const auto of_a_task = text_of(kGpusPerTask, hosts_[first].component);
    if (request_.torchrun && of_a_task) {
      const int each = slurm_gpus_in(*of_a_task).value_or(1);
      add({"--gpus-per-node=" + std::to_string(std::int64_t{each} * hosts_[first].ranks)});
    }
    if (has_components_ || !text_of("SLURM_GPUS", hosts_[first].component) ||
        !leaves_hosts_out(plan_.layout, s_))
      return;
    std::int64_t gpus = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (!hosts_[i].gpus) return;
      gpus += *hosts_[i].gpus;
    }
    add({"--gpus=" + std::to_string(gpus)});
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
