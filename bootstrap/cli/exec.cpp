#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "core/time_left.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/exchange.hpp"
#include "hpcboot/export.hpp"
#include "lone_process.hpp"
#include "meeting.hpp"
#include "options.hpp"
#include "pmi_keeper.hpp"
#include "stay_connected.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;
using Clock = std::chrono::steady_clock;
using Variables = std::map<std::string, std::string, std::less<>>;

constexpr const char* kGds = "PMIX_MCA_gds";

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

// In the environment given, not this process's. @return errno
int exec_in(const Variables& variables, const std::vector<std::string>& command,
            const char* program) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvpe(program, arguments.data(), environment.data());
  return errno;
}

void require_usable(std::string_view kind) {
  if (kind == "pmi2") {
    throw Error(ErrorCode::needs_exchange,
                "the environment does not say where rank 0 listens, and srun --mpi=pmi2 offers an "
                "exchange that can be used once: an MPI program could not start after it",
                "an endpoint, or an exchange that serves twice",
                "use srun --mpi=pmix, or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT, on every "
                "rank");
  }
}

Variables environment_for(const Env& env, Resolution r, const DeviceChoice& device) {
  Variables variables = env.variables();
  const bool is_lone_rank = r.launcher != "single" && r.placement.world_size == 1;
  if (is_alone(r) || (is_lone_rank && !(r.master_addr && r.master_port))) {
    r.launcher = kMadeAlone;
    r.master_addr = "127.0.0.1";
    r.master_port = take_a_free_port()->number();
  }
  // What stays unknown must not be somebody else's.
  for (const std::string& name : torch_unset(r, env)) variables.erase(name);
  for (const auto& [name, value] : torch_env(r, env)) variables[name] = value;
  if (r.launcher != "single") {
    for (const auto& [name, mask] : own_device_masks(env, device)) variables[name] = mask;
  }
  return variables;
}

// All ranks inherit one value from further out, which one of them at most has by chance: of two
// ranks at least one sees that it is not its own.
void report_conflicts(const Resolution& r) {
  if (r.placement.rank > 1) return;
  for (const Witness& witness : r.witnesses) {
    if (witness.agrees) continue;
    err() << "note: " << r.launcher << " placed this process as rank " << r.placement.rank << " of "
          << r.placement.world_size << ", but " << witness.source << " disagrees: " << witness.note
          << "\n";
  }
}

// PMIx's default store cannot be opened by the two programs of one process; both have to use this
// one, and PMIx reads the choice from the environment that the process began with.
int start_again_with_gds(const Env& env, const Arguments& arguments) {
  Variables variables = env.variables();
  variables[kGds] = "hash";
  std::vector<std::string> self = {"hpcboot", "exec"};
  self.insert(self.end(), arguments.begin(), arguments.end());
  const int reason = exec_in(variables, self, "/proc/self/exe");
  err() << "hpcboot: cannot start itself again: " << std::strerror(reason) << "\n";
  return 126;
}

// The port that rank 0 chose stays taken until all have heard of it, so that no other rank 0 on its
// host gets the same.
Resolution agree(const Env& env, const Facts& facts, Way way, Clock::time_point end) {
  Agreement agreement = resolve_together(env, facts, *way.exchange, time_left(end));
  way.exchange->hand_over();
  if (way.exchange->description().rfind("pmix", 0) == 0) stay_connected();
  if (!way.warning.empty()) agreement.resolution.hints.push_back(way.warning);
  return std::move(agreement.resolution);
}

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

  const Env env = Env::from_process();
  const Facts facts = Facts::of_this_process(env);
  const Alone alone = resolve_alone(env, facts);
  std::optional<Resolution> r = alone.answer;
  if (!alone.has_endpoint) {
    const auto deadline = std::chrono::seconds(timeout);
    const auto end = Clock::now() + deadline;
    if (must_leave_exchange_alone(env)) {
      r = agree(env, facts, open_other_way(alone, env, deadline), end);
    } else {
      const std::string_view kind = offered_exchange(env);
      require_usable(kind);
      if (kind == "pmix" && !env.has(kGds)) return start_again_with_gds(env, arguments);
      if (kind == "pmi1" && takes_silence_for_a_crash(alone.answer ? alone.answer->launcher : ""))
        keep_pmi_connection(env);
      r = agree(env, facts, open_way_between(alone, env, deadline), end);
    }
  }
  DeviceChoice device;
  if (gpu_bind == "auto")
    device = choose_device(env, facts, r->placement.local_rank, r->placement.local_size);
  for (const std::string& hint : r->hints) {
    // It advises what is done here.
    if (device.shows_first_only && hint == device.note) continue;
    err() << "hint: " << hint << "\n";
  }
  report_conflicts(*r);
  const Variables variables = environment_for(env, *r, device);
  const int reason = exec_in(variables, command, command.front().c_str());
  err() << "hpcboot: " << command.front() << ": " << std::strerror(reason) << "\n";
  return reason == ENOENT || reason == ENOTDIR ? 127 : 126;
}

}  // namespace

const Verb kExec{"exec", "run a program with the variables of torch.distributed", exec, true};

}  // namespace hpcboot::tool
