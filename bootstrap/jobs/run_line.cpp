#include "run_line.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot::jobscripts {
namespace {

void check_launcher(const SiteProfile& site, const std::string& launcher) {
  if (const auto problem = problem_of(*find_key("launcher"), launcher)) {
    throw Error(ErrorCode::malformed_value, "the launcher " + launcher + " " + *problem,
                description_of(*find_key("launcher")), "correct --launcher");
  }
  // The others can start processes on the hosts of any scheduler, or of none.
  const std::string& scheduler = site.text("scheduler");
  const std::string needed = launcher == "srun"   ? "slurm"
                             : launcher == "pals" ? "pbs"
                             : launcher == "ssh"  ? "none"
                                                  : scheduler;
  if (scheduler == needed) return;
  throw Error(ErrorCode::malformed_value,
              "the launcher " + launcher + " with the scheduler " + scheduler,
              "scheduler = \"" + needed + "\", the only one that works with " + launcher,
              "choose another launcher: mpirun works with all");
}

class Composer {
 public:
  Composer(const SiteProfile& site, const ScriptRequest& request, const LaunchShare& share)
      : site_(site), scheduler_(site.text("scheduler")), chosen_(request.launcher), share_(share) {}

  // LSF counts tasks and requests their cores separately.
  std::string threads_words() const {
    if (scheduler_ != "lsf") return "";
    return " --env OMP_NUM_THREADS=" + std::to_string(share_.cores_per_rank);
  }

  // Empty if `run` chooses the launcher by default.
  std::string launcher_words(const std::string& launcher) const {
    std::string words;
    if (launcher == "torchrun") {
      words = " --torchrun";
    } else if (launcher != "ssh" && !(launcher == "srun" && scheduler_ == "slurm")) {
      words = " --launcher " + launcher;
    }
    const std::vector<std::string>& options = site_.list("launch.options");
    if (options.empty()) return words;
    std::string joined;
    for (const std::string& option : options) joined += (joined.empty() ? "" : " ") + option;
    return words + " --launcher-args '" + joined + "'";
  }

  // `run` learns the number of ranks from the scheduler, unless a slot is not a rank.
  std::string ranks_words(bool one_node) const {
    if (scheduler_ == "slurm") return "";
    const bool told = scheduler_ == "pbs" || (scheduler_ == "sge" && share_.has_gpus) ||
                      (scheduler_ == "none" && !one_node);
    if (told) return " ${RANKS_PER_NODE:+--ranks-per-node \"$RANKS_PER_NODE\"}";
    return " --ranks-per-node \"${RANKS_PER_NODE:-" + std::to_string(share_.ranks_per_node) + "}\"";
  }

  std::string one_node() const {
    const std::string& launcher = chosen_.empty() ? site_.text("launcher") : chosen_;
    // On one host `run` needs no launcher option; an explicit choice of the user is written anyway.
    const bool is_plain = chosen_.empty() && launcher != "srun" && launcher != "torchrun";
    return ranks_words(true) + (is_plain ? "" : launcher_words(launcher));
  }

  std::string all_nodes(const std::string& launcher) const {
    const std::string hosts =
        scheduler_ == "none" ? " --hostfile \"${HOSTFILE:-" + site_.text("launch.hostfile") + "}\""
                             : "";
    return hosts + ranks_words(false) + launcher_words(launcher);
  }

  // The launcher of a multi-node job.
  std::string launcher_of(const Job& job) const {
    if (!chosen_.empty()) return chosen_;
    if (job.name == "multinode_srun") return "srun";
    const std::string& launcher = site_.text("launcher");
    return launcher == "pals" || launcher == "ssh" ? launcher : "mpirun";
  }

 private:
  const SiteProfile& site_;
  const std::string& scheduler_;
  const std::string& chosen_;
  const LaunchShare& share_;
};

}  // namespace

RunLines run_lines(const SiteProfile& site, const Job& job, const ScriptRequest& request,
                   const LaunchShare& share) {
  check_launcher(site, request.launcher.empty() ? site.text("launcher") : request.launcher);
  const Composer composer(site, request, share);
  RunLines lines;
  if (job.one_rank) {
    lines.options = " -n 1" + composer.threads_words();
    lines.mode = job.name == "dp" ? "dp" : "single";
  } else if (job.name == "compare") {
    const bool is_slurm = site.text("scheduler") == "slurm";
    const std::string threads = composer.threads_words();
    // A Slurm task has the cores of one rank, but DP is the only process on its node.
    const std::string all_cores =
        is_slurm ? " --env OMP_NUM_THREADS=\"${SLURM_CPUS_ON_NODE:-1}\" --launcher-args "
                   "\"--cpus-per-task=${SLURM_CPUS_ON_NODE:-1}\""
                 : threads;
    lines.attempts = {"single -n 1" + threads, "dp -n 1" + all_cores,
                      "ddp --nodes 1" + composer.one_node() + threads};
    if (is_slurm && request.launcher.empty())
      lines.attempts.push_back("ddp" + composer.all_nodes("srun"));
    lines.attempts.push_back("ddp" + composer.all_nodes(composer.launcher_of(job)) + threads);
  } else {
    lines.options =
        (job.one_node ? composer.one_node() : composer.all_nodes(composer.launcher_of(job))) +
        composer.threads_words();
    lines.mode = "ddp";
  }
  return lines;
}

}  // namespace hpcboot::jobscripts
