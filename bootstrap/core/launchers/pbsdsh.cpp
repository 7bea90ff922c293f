#include <algorithm>

#include "hpcboot/error.hpp"
#include "launchers.hpp"

// pbsdsh starts a program on the hosts of a PBS job through the task manager. PBS Pro's pbs_mom
// (src/resmom/start_exec.c) gives a task that was started so a PBS_TASKNUM of eight hexadecimal
// digits, and the job script a decimal one, mostly 1; PBS_NODENUM counts hosts. Torque's are all
// decimal: its tasks cannot be told from a script. Nothing says how many tasks there are. Daemons
// of MPI launchers are started so, too, and their ranks inherit it.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PBS_TASKNUM", kIdentity, kUsed},
    {"PBS_NODENUM", kIdentity},
};

bool is_task_number(std::string_view text) {
  return text.size() == 8 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
         });
}

Detection detect(const Env& env, const Facts&) {
  const auto task = env.text("PBS_TASKNUM");
  // Slurm's spank_pbs sets variables of PBS, too.
  if (!task || !is_task_number(*task) || env.has("SLURM_JOB_ID")) return {};
  return {Match::present, "PBS_TASKNUM is one of the task manager's"};
}

[[noreturn]] LaunchFacts read(const Env& env, const Facts&) {
  throw Error(ErrorCode::missing_variable,
              "pbsdsh started this process (PBS_TASKNUM=" + std::string(*env.text("PBS_TASKNUM")) +
                  "), and does not say how many there are",
              "the number of processes in the environment",
              "start the program with mpiexec, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
              "HPCBOOT_LOCAL_RANK");
}

}  // namespace

const LaunchSource kPbsdsh{"pbsdsh",
                           Level::remote_shell,
                           "daemons of MPI launchers are started by it; their ranks say more",
                           "pbsdsh",
                           "OpenPBS, src/resmom/start_exec.c",
                           kVariables,
                           "rank, size, local rank, hosts",
                           {},
                           detect,
                           read};

}  // namespace hpcboot::sources
