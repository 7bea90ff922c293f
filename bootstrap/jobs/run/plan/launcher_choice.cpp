#include "launcher_choice.hpp"

#include <algorithm>
#include <array>

#include "core/nearest_name.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/scheduler.hpp"
#include "mpi_launchers.hpp"

namespace hpcboot::run {
namespace {

// The values of --launcher. mpirun and pals belong to an MPI, whose kind is examined.
struct Named {
  const char* name;
  const char* program;    // in PATH; empty: none
  const char* scheduler;  // whose job is required; empty: any, or none
  Launcher launcher;
};

constexpr std::array<Named, 9> kNamed = {{{"local", "", "", Launcher::local},
                                          {"ssh", "ssh", "", Launcher::ssh},
                                          {"qrsh", "qrsh", "sge", Launcher::qrsh},
                                          {"blaunch", "blaunch", "lsf", Launcher::blaunch},
                                          {"srun", "srun", "slurm", Launcher::srun},
                                          {"mpirun", "mpirun", "", Launcher::openmpi},
                                          {"pals", "mpiexec", "", Launcher::pals},
                                          {"flux", "flux", "flux", Launcher::flux},
                                          {"jsrun", "jsrun", "lsf", Launcher::jsrun}}};

const Named& find_named(const std::string& name) {
  const auto* const found = std::find_if(kNamed.begin(), kNamed.end(),
                                         [&](const Named& named) { return name == named.name; });
  if (found != kNamed.end()) return *found;
  std::vector<std::string> names;
  for (const Named& named : kNamed) names.emplace_back(named.name);
  throw Error(
      ErrorCode::malformed_value, "--launcher " + name, "one of " + listed(names),
      remedy_for_name(name, names) + ", or leave --launcher out: hpcboot run then chooses one");
}

std::string a_job_of(const std::string& scheduler) {
  const Scheduler* known = find_scheduler(scheduler);
  if (known == nullptr || known->title.empty()) return "a job of " + scheduler;
  return (scheduler == "lsf" ? "an " : "a ") + std::string(known->title) + " job";
}

[[noreturn]] void fail_missing(const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::backend_unavailable, what + " is not in PATH", what + " in PATH", remedy);
}

[[noreturn]] void fail_missing_both(const std::string& one, const std::string& other) {
  throw Error(ErrorCode::backend_unavailable, "neither " + one + " nor " + other + " is in PATH",
              "one of them in PATH", "load the module of " + one + ", or install " + other);
}

class Chooser {
 public:
  Chooser(const RunRequest& request, const Surroundings& s, const Layout& layout)
      : request_(request), s_(s), layout_(layout) {
    if (s.allocation) scheduler_ = s.allocation->scheduler;
    needs_ = mpi_of_program(path_of_the_program());
    is_mpi_program_ = needs_ == ProgramMpi::mpich || needs_ == ProgramMpi::open_mpi;
  }

  LauncherChoice choose() {
    LauncherChoice choice = request_.launcher ? asked_for() : found_here();
    choice.needs = needs_;
    if (is_mpi_program_ && has_agents(choice.launcher)) {
      choice.notes.push_back(request_.command.front() + " is linked to " + name_of_its_mpi() +
                             "; without mpirun, MPI sees each rank as rank 0 of 1" +
                             (request_.launcher ? ": leave --launcher out" : ""));
    } else if ((needs_ == ProgramMpi::mpich && choice.launcher == Launcher::openmpi) ||
               (needs_ == ProgramMpi::open_mpi && choice.launcher == Launcher::hydra)) {
      choice.notes.push_back(request_.command.front() + " is linked to " + name_of_its_mpi() +
                             ", but " + choice.program +
                             " belongs to another MPI: MPI may see each rank as rank 0 of 1");
    }
    return choice;
  }

 private:
  std::string path_of_the_program() const {
    const std::string& name = request_.command.front();
    const bool is_relative = name.find('/') != std::string::npos && name.front() != '/';
    if (is_relative && request_.chdir) return *request_.chdir + "/" + name;
    return s_.find_program(s_.env, name);
  }

  const char* name_of_its_mpi() const {
    return needs_ == ProgramMpi::mpich ? "MPICH's ABI" : "Open MPI";
  }

  LauncherChoice asked_for() const {
    const Named& named = find_named(*request_.launcher);
    const std::string option = std::string("--launcher ") + named.name;
    if (*named.scheduler != '\0' && scheduler_ != named.scheduler) {
      throw Error(ErrorCode::inconsistent_placement,
                  option + (scheduler_.empty() ? " outside a job" : " in " + a_job_of(scheduler_)),
                  a_job_of(named.scheduler), "start it in such a job, or leave --launcher out");
    }
    if (named.launcher == Launcher::local && !layout_.is_this_host_alone) {
      throw Error(ErrorCode::inconsistent_placement,
                  option + " with ranks on " + layout_.hosts.back().host, "ranks on this host only",
                  "give --nodes 1 on that host, or leave --launcher out");
    }
    if (named.launcher == Launcher::openmpi) return of(require_mpirun(option), option);
    if (named.launcher == Launcher::pals) {
      if (const auto pals = find_pals(s_)) return of(*pals, option);
      fail_missing("mpiexec of PALS", "load PALS, or leave --launcher out");
    }
    LauncherChoice choice{named.launcher, "", option, needs_, {}};
    if (*named.program == '\0') return choice;
    choice.program = path_of(named.program);
    if (choice.program.empty())
      fail_missing(named.program, "add it to PATH, or leave --launcher out");
    return choice;
  }

  LauncherChoice of(const MpiLauncher& found, const std::string& origin) const {
    return {found.launcher, found.path, origin, needs_, {}};
  }

  MpiLauncher require_mpirun(const std::string& why) const {
    if (const auto found = find_mpirun(s_)) return *found;
    const std::string path = s_.find_program(s_.env, "mpirun");
    throw Error(ErrorCode::backend_unavailable,
                why + ", and " +
                    (path.empty() ? "no mpirun is in PATH"
                                  : path + " is not from Open MPI, MPICH or Intel MPI"),
                "the mpirun of the program's MPI in PATH", "load the module of that MPI");
  }

  // A Grid Engine job has Grid Engine's programs in PATH only if the user arranges it.
  std::string path_of(const char* program) const {
    const std::string path = s_.find_program(s_.env, program);
    const auto folder = s_.env.text("SGE_BINARY_PATH");
    if (!path.empty() || scheduler_ != "sge" || !folder) return path;
    return s_.find_program(s_.env, std::string(*folder) + "/" + program);
  }

  // The choice of this program, if it exists.
  std::optional<LauncherChoice> present(Launcher launcher, const char* program,
                                        const std::string& origin) const {
    const std::string path = path_of(program);
    if (path.empty()) return std::nullopt;
    return LauncherChoice{launcher, path, origin, needs_, {}};
  }

  // Under our own agent MPI would not know its rank.
  LauncherChoice alone(const std::string& place) const {
    if (!is_mpi_program_) return {Launcher::local, "", place, needs_, {}};
    const std::string why =
        request_.command.front() + " is linked to " + std::string(name_of_its_mpi());
    return of(require_mpirun(why), why);
  }

  LauncherChoice mpirun_or_agents(const std::string& place, Launcher shell) const {
    if (const auto found = find_mpirun(s_)) return of(*found, place + ", and mpirun is in PATH");
    if (is_mpi_program_) require_mpirun(request_.command.front() + " is an MPI program");
    if (layout_.is_this_host_alone)
      return {Launcher::local, "", place + ", which names only this host", needs_, {}};
    const char* program = name_of(shell);
    if (const auto choice = present(shell, program, place + ", and no mpirun is in PATH"))
      return *choice;
    fail_missing_both("mpirun", program);
  }

  LauncherChoice found_here() const {
    if (request_.hostfile) return mpirun_or_agents("--hostfile", Launcher::ssh);
    const std::string place = scheduler_.empty() ? "outside a job" : a_job_of(scheduler_);
    const bool is_alone = layout_.is_this_host_alone;
    if (scheduler_ == "slurm") {
      if (const auto srun = present(Launcher::srun, "srun", place)) return *srun;
      return is_alone ? alone(place + " on this host, without srun")
                      : over_ssh(place + " without srun");
    }
    if (scheduler_ == "flux" && !is_task_of_flux()) {
      if (const auto flux = present(Launcher::flux, "flux", place)) return *flux;
      fail_missing("flux", "add flux to PATH");
    }
    if (scheduler_ == "lsf") {
      if (const auto jsrun = present(Launcher::jsrun, "jsrun", place)) return *jsrun;
    }
    if (is_alone && !is_mpi_program_)
      return alone(scheduler_.empty() ? "this host alone" : place + " on this host alone");
    if (scheduler_ == "pbs") {
      if (const auto pals = find_pals(s_)) return of(*pals, place + " with PALS");
    }
    if (is_alone) return alone(place);
    return mpirun_or_agents(place, scheduler_ == "sge"   ? Launcher::qrsh
                                   : scheduler_ == "lsf" ? Launcher::blaunch
                                                         : Launcher::ssh);
  }

  // `flux run` within a task of another `flux run` would queue its own job behind this one.
  bool is_task_of_flux() const {
    return s_.env.has("FLUX_JOB_ID") && !s_.env.has("FLUX_ENCLOSING_ID");
  }

  // Slurm's hosts without srun: an mpirun with Slurm support would need srun for its daemons, too.
  LauncherChoice over_ssh(const std::string& place) const {
    if (is_mpi_program_) fail_missing("srun", "add Slurm's programs to PATH");
    if (const auto ssh = present(Launcher::ssh, "ssh", place)) return *ssh;
    fail_missing_both("srun", "ssh");
  }

  const RunRequest& request_;
  const Surroundings& s_;
  const Layout& layout_;
  std::string scheduler_;
  ProgramMpi needs_ = ProgramMpi::unknown;
  bool is_mpi_program_ = false;
};

}  // namespace

LauncherChoice choose_launcher(const RunRequest& request, const Surroundings& s,
                               const Layout& layout) {
  return Chooser(request, s, layout).choose();
}

}  // namespace hpcboot::run
