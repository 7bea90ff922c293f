#include <algorithm>
#include <cerrno>
#include <cstring>

#include "options.hpp"
#include "program_environment.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;
constexpr const char* kSynopsis =
    "Usage: hpcboot exec [--gpu-bind auto|none] [--timeout SECONDS] -- COMMAND [ARGUMENT…]\n\n"
    "Becomes COMMAND, with what torch.distributed programs read in its environment: RANK,\n"
    "WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR,\n"
    "MASTER_PORT, NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME. Start it once per rank, by any "
    "launcher:\n\n"
    "  mpirun -np 4 hpcboot exec -- python3 train.py        init_method=\"env://\" just works\n"
    "  srun hpcboot exec -- python3 train.py\n"
    "  hpcboot exec -- python3 train.py                     alone: rank 0 of 1\n\n"
    "Where the environment does not tell where rank 0 listens, rank 0 chooses a free port and the\n"
    "ranks tell each other, over the launcher's PMIx or PMI-1, in the shared folder\n"
    "HPCBOOT_EXCHANGE_DIR, or at rank 0's host if that is known; until COMMAND listens there "
    "another server may take the port.\n"
    "HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT save that. COMMAND may be an MPI program, of "
    "an\n"
    "MPI that the launcher serves: without exec it would have to start, too.\n"
    "In the script of a job of several tasks only MASTER_ADDR and MASTER_PORT are set, with a "
    "hint:\n"
    "every task that COMMAND starts would inherit this RANK. Write srun hpcboot exec … there. In "
    "a\n"
    "job of one task COMMAND is rank 0 of 1.\n\n"
    "--gpu-bind auto narrows the mask of devices that the launcher set (CUDA_VISIBLE_DEVICES where "
    "it\n"
    "set none) to the rank's own, by HPCBOOT_DEVICE_ORDER or the site's order; COMMAND then sees "
    "it "
    "as\n"
    "device 0. Do not combine it with programs that choose by LOCAL_RANK, as\n"
    "torch.cuda.set_device(local_rank) does: they would ask for a device that they do not see. So\n"
    "none, which leaves the masks alone, is the default.\n\n"
    "Exit code: COMMAND's; 126 where it cannot be executed, 127 where it is not found; 2 usage;\n"
    "20 and up where no answer was found.\n";

int exec(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  po::options_description options("Options");
  options.add_options()("timeout", po::value<int>()->default_value(60)->value_name("SECONDS"),
                        "how long to wait for the other ranks, where they have to be asked")(
      "gpu-bind", po::value<std::string>()->default_value("none")->value_name("auto|none"),
      "auto: COMMAND sees this rank's own device only");
  const auto values = parse(Arguments(arguments.begin(), dashes), kSynopsis, options);
  if (!values) return 0;
  if (dashes == arguments.end())
    throw UsageError("the command stands behind --: hpcboot exec -- COMMAND [ARGUMENT…]");
  const std::vector<std::string> command(dashes + 1, arguments.end());
  if (command.empty()) throw UsageError("there is no command behind --");
  const int timeout = (*values)["timeout"].as<int>();
  if (timeout < 1) throw UsageError("--timeout is a number of seconds from 1");
  const auto& gpu_bind = (*values)["gpu-bind"].as<std::string>();
  if (gpu_bind != "auto" && gpu_bind != "none") throw UsageError("--gpu-bind is auto or none");

  const ProgramEnvironment made = environment_for_program(
      Env::from_process(), {gpu_bind == "auto", std::chrono::seconds(timeout)}, "exec", arguments);
  const int reason = become(made.variables, command, command.front().c_str());
  err() << "hpcboot: " << command.front() << ": " << std::strerror(reason) << "\n";
  return reason == ENOENT || reason == ENOTDIR ? 127 : 126;
}

}  // namespace

const Verb kExec{"exec", "run a program with the variables of torch.distributed", exec, true};

}  // namespace hpcboot::tool
