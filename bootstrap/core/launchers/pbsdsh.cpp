#include <algorithm>
#include <initializer_list>

#include "hpcboot/error.hpp"
#include "launchers.hpp"

// pbsdsh starts a program on the hosts of a PBS job through the task manager. PBS Pro's pbs_mom
// (src/resmom/start_exec.c) gives such a task a PBS_TASKNUM of eight hexadecimal digits, and the
// job script a decimal one, usually 1. PBS_NODENUM numbers hosts and Torque's PBS_VNODENUM slots;
// the script has the first of each. Torque's PBS_TASKNUM is always decimal, so its task in the
// first slot cannot be distinguished from the script. No variable has the number of tasks. MPI
// launchers also start their daemons this way, and the ranks inherit the variables.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PBS_TASKNUM", kIdentity, kUsed},
    {"PBS_NODENUM", kIdentity, kUsed},
    {"PBS_VNODENUM", kIdentity, kUsed},
};

bool is_task_number(std::string_view text) {
  return text.size() == 8 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
         });
}

Detection detect(const Env& env, const Facts&) {
  // Slurm's spank_pbs also sets PBS variables.
  if (env.has("SLURM_JOB_ID")) return {};
  const auto task = env.text("PBS_TASKNUM");
  if (task && is_task_number(*task)) {
    return {Match::present,
            "PBS_TASKNUM=" + std::string(*task) + " has the form that the task manager sets"};
  }
  for (const char* variable : {"PBS_NODENUM", "PBS_VNODENUM"}) {
    const auto index = parse_whole_number(env.text(variable).value_or(""));
    if (index.value_or(0) > 0) {
      return {Match::present,
              std::string(variable) + "=" + std::to_string(*index) + ", and a job script has 0"};
    }
  }
  return {};
}

[[noreturn]] LaunchFacts read(const Env& env, const Facts& facts) {
  throw Error(ErrorCode::missing_variable,
              "pbsdsh started this process (" + detect(env, facts).reason +
                  ") but does not set the number of processes",
              "the number of processes in the environment",
              "start the program with mpiexec, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
              "HPCBOOT_LOCAL_RANK");
}

}  // namespace

const LaunchSource kPbsdsh{
    "pbsdsh",
    Level::remote_shell,
    "it starts the daemons of MPI launchers; their ranks have more specific variables",
    "pbsdsh",
    "OpenPBS, src/resmom/start_exec.c",
    kVariables,
    "rank, size, local rank, hosts",
    {},
    detect,
    read};

}  // namespace hpcboot::sources
