#include <algorithm>
#include <cerrno>
#include <cstring>

#include "options.hpp"
#include "process/become.hpp"
#include "program_environment.hpp"

namespace hpcboot::tool {
namespace {

options::Command exec_command() {
  options::Command command{
      "hpcboot",
      "exec",
      "run a program with the environment that torch.distributed reads",
      {"hpcboot exec [OPTIONS] -- COMMAND [ARGUMENT…]"},
      {{"mpirun -np 4 hpcboot exec -- python3 train.py", "then init_method=\"env://\" works"},
       {"srun hpcboot exec -- python3 train.py", "in a Slurm job"},
       {"hpcboot exec -- python3 train.py", "without a launcher: rank 0 of 1"}}};
  command.takes_program = true;
  command.details = {
      "Start it once per rank, with any launcher. It replaces itself with COMMAND, whose "
      "environment then contains RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, "
      "GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME.",
      "If the environment does not say where rank 0 listens, rank 0 chooses a free port and "
      "publishes it through the launcher's PMIx or PMI-1, the shared folder HPCBOOT_EXCHANGE_DIR, "
      "or a store on its own host if the others know that host. Until COMMAND listens on the port, "
      "another program may take it; set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT to use a port "
      "that you know is free. Launches at the same time that differ neither in job, step nor size "
      "need a folder each: otherwise ranks fail with exit code 31, or meet those of the other "
      "launch. COMMAND may be an MPI program if the launcher supports its MPI: exec "
      "cannot start an MPI program that the launcher alone cannot.",
      "In the batch script of a job with several tasks, only MASTER_ADDR and MASTER_PORT are set, "
      "with a hint: every task that COMMAND starts would inherit the script's RANK. Use srun "
      "hpcboot exec … there. In a job with one task, COMMAND is rank 0 of 1.",
      "--gpu-bind auto narrows the launcher's device mask (or CUDA_VISIBLE_DEVICES if it set none) "
      "to this rank's device, by HPCBOOT_DEVICE_ORDER or the site's order; COMMAND sees it as "
      "device 0. Do not combine it with programs that select the device by LOCAL_RANK, for example "
      "with torch.cuda.set_device(local_rank): they would ask for a device that they cannot see."};
  command.groups = {{"Options",
                     {{"timeout", options::number("SECONDS", 60),
                       "wait this long for the other ranks, if an exchange is needed"},
                      {"gpu-bind", options::choice({"auto", "none"}, "none"),
                       "auto: COMMAND sees only this rank's device"}}}};
  command.operands = {{"command", options::list("COMMAND", options::Completes::program), -1}};
  command.exit_codes = {{"COMMAND's", "once it has started"},
                        {"126", "COMMAND cannot be executed"},
                        {"127", "COMMAND was not found"},
                        {"2", "the command line is wrong"},
                        {"20 to 35", "the ranks are not resolved; nothing was started"}};
  command.more = "bootstrap/README.md explains each variable";
  return command;
}

int exec(const Call& call) {
  if (!call.has_program)
    throw UsageError("the command comes after --: hpcboot exec -- COMMAND [ARGUMENT…]");
  if (call.program.empty()) throw UsageError("there is no command after --");
  if (call.values.count("command") != 0)
    throw UsageError("unexpected '" +
                     call.values["command"].as<std::vector<std::string>>().front() + "' before --");
  const int timeout = call.values["timeout"].as<int>();
  if (timeout < 1) throw UsageError("--timeout must be at least 1 second");
  const bool binds = call.values["gpu-bind"].as<std::string>() == "auto";

  const ProgramEnvironment made = environment_for_program(
      Env::from_process(), {binds, std::chrono::seconds(timeout)}, "exec", call.arguments);
  const int reason = become(made.variables, call.program, call.program.front().c_str());
  err() << "hpcboot: " << call.program.front() << ": " << std::strerror(reason) << "\n";
  return reason == ENOENT || reason == ENOTDIR ? 127 : 126;
}

}  // namespace

const Verb kExec{exec_command, exec, true};

}  // namespace hpcboot::tool
