#include "launch_command.hpp"

#include <algorithm>
#include <cstdint>

#include "core/launchers/slurm_step.hpp"
#include "granted.hpp"
#include "hidden_colon.hpp"
#include "hpcboot/error.hpp"
#include "layout.hpp"
#include "srun_command.hpp"

// No command contains the value of a variable: any user of a host can read command lines.
namespace hpcboot::run {
namespace {

using Words = std::vector<std::string>;

class Command {
 public:
  Command(Plan& plan, const RunRequest& request, const Surroundings& s,
          const LauncherChoice& choice)
      : plan_(plan), request_(request), s_(s), choice_(choice) {
    for (const HostRanks& host : plan.layout.hosts) {
      tasks_.push_back(request.torchrun ? 1 : host.ranks);
      total_ += tasks_.back();
    }
  }

  void write() {
    if (!logs_in()) refuse_users();
    if (s_.allocation && s_.allocation->scheduler == "slurm") share_own_step();
    switch (plan_.launcher) {
      case Launcher::srun:
        write_srun(plan_, request_, s_, choice_, tasks_, rank());
        return;
      case Launcher::openmpi:
        openmpi();
        break;
      case Launcher::hydra:
        hydra();
        break;
      case Launcher::pals:
        pals();
        break;
      case Launcher::flux:
        flux();
        break;
      case Launcher::jsrun:
        jsrun();
        break;
      case Launcher::local:
      case Launcher::ssh:
      case Launcher::qrsh:
      case Launcher::blaunch:
        agents();
        return;
    }
    add(request_.launcher_args);
    add(rank());
  }

 private:
  void add(const Words& words) {
    plan_.words.insert(plan_.words.end(), words.begin(), words.end());
  }

  std::string hosts() const { return std::to_string(tasks_.size()); }
  std::string total() const { return std::to_string(total_); }
  std::string of_each() const { return std::to_string(tasks_.front()); }

  bool is_even() const {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [&](int count) { return count == tasks_.front(); });
  }

  // Launchers that fill host after host may give the last one fewer ranks.
  bool is_even_but_for_the_last() const {
    return tasks_.back() <= tasks_.front() &&
           std::all_of(tasks_.begin(), tasks_.end() - 1,
                       [&](int count) { return count == tasks_.front(); });
  }

  void require(bool is_possible) const {
    if (is_possible) return;
    throw Error(
        ErrorCode::inconsistent_placement,
        "different numbers of ranks on the hosts under " + std::string(name_of(plan_.launcher)),
        "the same number of ranks on every host",
        "give --ranks-per-node, and no -n that gives a host fewer ranks");
  }

  // A Slurm step that this process is in holds its CPUs and GPUs until it ends: without --overlap
  // srun, which mpirun also uses, would wait for them. By a variable, which Slurm before 20.11
  // ignores.
  void share_own_step() {
    if (sources::in_slurm_step(s_.env)) plan_.set["SLURM_OVERLAP"] = "1";
  }

  // Are hosts reached by ssh? In a job, mpirun starts its daemons through the scheduler.
  bool logs_in() const {
    const bool is_mpirun = plan_.launcher == Launcher::openmpi || plan_.launcher == Launcher::hydra;
    const bool has_job = s_.allocation && !s_.allocation->scheduler.empty();
    return plan_.launcher == Launcher::local || plan_.launcher == Launcher::ssh ||
           (is_mpirun && !has_job);
  }

  void refuse_users() const {
    for (const HostRanks& host : plan_.layout.hosts) {
      if (host.user.empty()) continue;
      throw Error(ErrorCode::inconsistent_placement,
                  "user '" + host.user + "' of host " + host.host + " in " + plan_.layout.origin,
                  "no user: the ranks of a job run as the user who submitted it",
                  "remove the users from that file, or give --launcher ssh");
    }
  }

  void add_hostfile(const char* option, const char* separator, const char* user) {
    add({option, kHostfileWord});
    plan_.hostfile_word = plan_.words.size() - 1;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const HostRanks& host = plan_.layout.hosts[i];
      plan_.hostfile += host.host + separator + std::to_string(tasks_[i]);
      if (!host.user.empty()) plan_.hostfile += user + host.user;
      plan_.hostfile += "\n";
    }
  }

  // With a full path Open MPI finds its daemons on other hosts, where no module is loaded. Those of
  // the system are found without it.
  std::string mpirun_of_open_mpi() const {
    const std::string& path = choice_.program;
    return path == "/usr/bin/mpirun" || path == "/bin/mpirun" ? "mpirun" : path;
  }

  // In a job of Slurm mpirun starts its daemons by a srun without --het-group, which knows only the
  // first component.
  void require_the_first_component() const {
    if (plan_.layout.hosts.back().component == 0) return;
    throw Error(ErrorCode::inconsistent_placement,
                "ranks in several components of a heterogeneous Slurm job under " +
                    std::string(name_of(plan_.launcher)),
                "srun, or hosts of the first component alone",
                "leave --launcher out, or give --nodes");
  }

  // mpirun(1) of Open MPI 4 and 5. Slots come from the host file, so that ranks fill the hosts in
  // order.
  void openmpi() {
    require_the_first_component();
    add({mpirun_of_open_mpi(), "-np", total()});
    add_hostfile("--hostfile", " slots=", " username=");
    add({"--map-by", request_.oversubscribe ? "slot:OVERSUBSCRIBE" : "slot", "--bind-to", "none"});
    if (!plan_.layout.is_this_host_alone) {  // there ranks inherit everything
      for (const std::string& name : plan_.exported) add({"-x", name});
    }
    if (request_.chdir) add({"--wdir", *request_.chdir});
    if (s_.facts.user_id == 0) add({"--allow-run-as-root"});
    if (s_.allocation && s_.allocation->scheduler == "slurm") count_slots_for_slurm();
  }

  // In a Slurm job mpirun uses this as the maximum of slots, whatever the host file says. (If told
  // not to ask Slurm, it starts its daemons by srun without a host list, only on the first host:
  // observed with Open MPI 4.1.4.)
  void count_slots_for_slurm() {
    keep_ranks_for_kill_wait();
    std::string counts;
    for (const std::string& name : s_.allocation->hosts) {
      std::size_t i = 0;
      while (i < tasks_.size() && plan_.layout.hosts[i].host != name) ++i;
      counts += (counts.empty() ? "" : ",") + std::to_string(i < tasks_.size() ? tasks_[i] : 1);
    }
    plan_.set["SLURM_TASKS_PER_NODE"] = counts;
  }

  // After SIGTERM, as sent by scancel, mpirun kills its ranks after one second. Slurm allows
  // KillWait.
  void keep_ranks_for_kill_wait() {
    const std::string config = s_.output_of({"scontrol", "show", "config"});
    constexpr std::string_view kName = "KillWait";
    const std::size_t at = config.find(kName);
    const std::size_t digits = config.find_first_of("0123456789", at);
    if (at == std::string::npos || digits == std::string::npos) return;
    const auto wait = parse_whole_number(
        std::string_view(config).substr(digits, config.find(' ', digits) - digits));
    if (!wait || *wait < 4 || *wait > 3600) return;
    const std::string patience = std::to_string(*wait - 2);
    plan_.set["OMPI_MCA_odls_base_sigkill_timeout"] = patience;
    plan_.set["PRTE_MCA_odls_base_sigkill_timeout"] = patience;
  }

  // mpiexec of MPICH and of Intel MPI; Intel's -f would ignore the numbers of ranks.
  void hydra() {
    require_the_first_component();
    add({"mpirun", "-np", total()});
    add_hostfile("-machinefile", ":", " user=");
    if (request_.chdir) add({"-wdir", *request_.chdir});
  }

  // mpiexec(1) of HPE's PALS: it gets the hosts from the scheduler.
  void pals() {
    require(is_even_but_for_the_last());
    const int ranks = request_.torchrun ? plan_.layout.hosts.front().ranks : 1;
    add({"mpiexec", "-n", total(), "--ppn", of_each(), "--depth",
         std::to_string(std::int64_t{plan_.layout.threads_per_rank()} * ranks), "--cpu-bind",
         "depth"});
    if (leaves_hosts_out(plan_.layout, s_)) add({"--hosts", host_names(plan_.layout.hosts)});
    if (request_.chdir) add({"--wdir", *request_.chdir});
  }

  // flux-run(1): tasks of a node and of a resource cannot be mixed with --ntasks. Whole nodes,
  // since otherwise a task gets one core and no GPU. Flux distributes --ntasks evenly; the first
  // nodes get one more.
  void flux() {
    require(tasks_.front() - tasks_.back() <= 1 && std::is_sorted(tasks_.rbegin(), tasks_.rend()));
    add({"flux", "run", "--nodes=" + hosts()});
    add({is_even() ? "--tasks-per-node=" + of_each() : "--ntasks=" + total(), "--exclusive",
         "--input=0"});
    if (request_.chdir) add({"--cwd=" + *request_.chdir});
  }

  // jsrun(1) of IBM's Job Step Manager: one resource set per host, with all of its resources.
  void jsrun() {
    require(is_even());
    add({"jsrun", "--nrs", hosts(), "--rs_per_host", "1", "--tasks_per_rs", of_each(),
         "--cpu_per_rs", "ALL_CPUS", "--gpu_per_rs", "ALL_GPUS", "--bind", "none",
         "--exit_on_error", "1"});
    if (request_.chdir) add({"--chdir", *request_.chdir});
  }

  void agents() {
    for (const HostRanks& host : plan_.layout.hosts) {
      AgentPlace place{host.host, {}};
      if (!is_this_host(host.host, s_)) {
        if (plan_.launcher == Launcher::ssh) {
          place.shell = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
        } else if (plan_.launcher == Launcher::qrsh) {
          place.shell = {choice_.program, "-inherit"};
        } else {
          place.shell = {"blaunch"};
        }
        place.shell.insert(place.shell.end(), request_.launcher_args.begin(),
                           request_.launcher_args.end());
        if (plan_.launcher == Launcher::ssh) place.shell.emplace_back("--");
        place.shell.push_back((host.user.empty() ? "" : host.user + "@") + host.host);
      }
      plan_.agents.push_back(std::move(place));
    }
    add(request_.torchrun ? rank() : request_.command);
  }

  // What the launcher starts.
  Words rank() const {
    Words words = {s_.self, "run-rank", "--timeout", std::to_string(request_.timeout.count())};
    const auto append = [&](const Words& more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    if (request_.gpu_bind) append({"--gpu-bind", "auto"});
    if (!request_.prefix) append({"--no-prefix"});
    if (request_.whole_lines) append({"--whole-lines"});
    if (request_.output_dir) append({"--output-dir", *request_.output_dir});
    if (request_.stage && !has_agents(plan_.launcher)) append({"--stage", *request_.stage});
    if (request_.torchrun) append({"--torchrun", std::to_string(plan_.layout.hosts.front().ranks)});
    append({"--"});
    // A launcher would treat a single colon as a separator between programs.
    for (const std::string& word : request_.command) append({hide_colon(word)});
    return words;
  }

  Plan& plan_;
  const RunRequest& request_;
  const Surroundings& s_;
  const LauncherChoice& choice_;
  std::vector<int> tasks_;  // number started by the launcher on each host
  int total_ = 0;
};

}  // namespace

void write_launch_command(Plan& plan, const RunRequest& request, const Surroundings& s,
                          const LauncherChoice& choice) {
  Command(plan, request, s, choice).write();
}

}  // namespace hpcboot::run
