#include "checks.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/scheduler.hpp"

namespace hpcboot::doctor {

void check_launcher(const Situation& s, Findings& findings) {
  if (s.error && s.error->code() == ErrorCode::needs_exchange &&
      !s.system.kvs.value_or("").empty()) {
    findings.note("launcher", s.error->found() + ": the ranks must exchange it",
                  "no action needed under hpcboot exec, hpcboot check or the library");
    return;
  }
  if (s.error) {
    findings.problem("launcher",
                     "error " + std::to_string(s.error->exit_code()) + " (" +
                         std::string(hpcboot::name_of(s.error->code())) + "): found " +
                         s.error->found() + "; expected " + s.error->expected(),
                     s.error->remedy());
    return;
  }
  const Resolution& r = *s.resolution;
  if (r.launcher == "single") {
    findings.ok("launcher", "no launcher placed this process: it runs alone, as rank 0 of 1");
    return;
  }
  findings.ok("launcher", "rank " + std::to_string(r.placement.rank) + " of " +
                              std::to_string(r.placement.world_size) + ", launcher " + r.launcher);
}

void check_other_sources(const Situation& s, Findings& findings) {
  if (!s.resolution) return;
  for (const OtherSource& other_source : s.resolution->other_sources) {
    if (other_source.agrees) continue;
    const std::string message = other_source.source + " disagrees with " + s.resolution->launcher +
                                ": " + other_source.note;
    if (other_source.is_explained) {
      findings.note("other launchers", message, "no action needed");
    } else {
      findings.warning(
          "other launchers", message,
          "set HPCBOOT_METHODS to the intended launcher, or unset the variables of the other one");
    }
  }
}

void check_tasks(const Situation& s, Findings& findings) {
  if (!s.resolution || s.resolution->launcher != "single" || !s.resolution->scheduler) return;
  const std::string job = *s.resolution->scheduler + " job " + s.resolution->job_id.value_or("");
  const auto allocation = read_allocation(s.env, {std::nullopt, false});
  const int tasks = allocation ? allocation->num_tasks.value_or(1) : 1;
  const Scheduler* scheduler = find_scheduler(*s.resolution->scheduler);
  const std::string launcher(scheduler != nullptr ? scheduler->start_command : "mpirun");
  if (allocation && !allocation->num_tasks && s.resolution->hosts.empty()) {
    // A batch script of Flux.
    findings.note("tasks",
                  "the environment does not say how many tasks and hosts " + job +
                      " has; this process is not one of the tasks, as is normal in a batch script",
                  "start the program with " + launcher + "; `" + launcher +
                      " hpcboot doctor` examines each task");
    return;
  }
  if (tasks <= 1 && s.resolution->hosts.size() <= 1) {
    findings.ok("tasks", job + " has one task");
    return;
  }
  findings.note("tasks",
                job + " has " + std::to_string(tasks) + " tasks on " +
                    std::to_string(s.resolution->hosts.size()) +
                    " hosts; this process is not one of the tasks, as is normal in a batch script",
                "start the program with " + launcher + "; `" + launcher +
                    " hpcboot doctor` examines each task");
}

}  // namespace hpcboot::doctor
