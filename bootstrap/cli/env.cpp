#include "core/export_mark.hpp"
#include "hpcboot/export.hpp"
#include "lone_process.hpp"
#include "options.hpp"
#include "rendezvous.hpp"

namespace hpcboot::tool {
namespace {

options::Command env_command() {
  options::Command command{
      "hpcboot",
      "env",
      "print exports for torch.distributed programs",
      {"eval \"$(hpcboot env)\""},
      {{"eval \"$(hpcboot env)\"; python3 train.py", "in a process started by a launcher"},
       {"hpcboot env --env-file job.env", "for an environment recorded elsewhere"}}};
  command.details = {
      "Exports RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, "
      "MASTER_ADDR, MASTER_PORT, NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME, the last two unless "
      "they are set already. A variable whose value is unknown is not exported, and is unset. "
      "HPCBOOT_EXPORTED marks these "
      "exports, so that hpcboot ignores them under a launcher that you start later.",
      "Outside a job, a process that no launcher placed is rank 0 of 1. A batch script gets only "
      "MASTER_ADDR and MASTER_PORT, since every task that it starts would inherit the script's "
      "RANK: use srun hpcboot exec … there.",
      "If it fails, it prints commands that unset what an earlier call exported, and eval has its "
      "exit code: eval \"$(hpcboot env)\" || exit."};
  command.groups = {environment_options()};
  command.exit_codes = {{"0", "resolved"},
                        {"2", "the command line is wrong"},
                        {"20 to 35", "not resolved; what an earlier call exported is unset"}};
  command.more = "hpcboot exec starts a program with these variables";
  return command;
}

int print_env(const Call& call) {
  const Env env = env_as_asked(call.values);
  Resolution r = resolve_as_asked(env, call.values);
  if (is_alone(r) && !r.scheduler) {
    // The port derived from host and user is shared with the user's other processes there.
    const bool is_this_process = call.values.count("env-file") == 0;
    if (is_this_process && r.provenance["master_port"].source == "rule")
      r.master_port = rendezvous::take_a_free_port()->number();
    r.launcher = kMadeAlone;
  }
  for (const std::string& name : torch_unset(r, env)) out() << "unset " << name << "\n";
  out() << Encoded::as_is(to_shell(torch_env(r, env)));
  for (const auto& [field, value] : {std::make_pair("MASTER_ADDR", r.master_addr.has_value()),
                                     std::make_pair("MASTER_PORT", r.master_port.has_value())}) {
    if (!value) {
      err() << "note: " << field << " is not exported: the ranks must exchange it; set HPCBOOT_"
            << field << " to choose it\n";
    }
  }
  for (const std::string& hint : r.hints) err() << "hint: " << hint << "\n";
  return 0;
}

// eval's exit status is that of the last command: without one, a failure would look like success,
// with the values of an earlier launch. Those of `hpcboot run`, HPCBOOT_*, still place this rank.
void print_env_failure(int code) {
  for (const std::string& name : marked_exports(Env::from_process())) {
    if (name.rfind("HPCBOOT_", 0) != 0) out() << "unset " << name << "\n";
  }
  out() << "(exit " << code << ")\n";
}

}  // namespace

const Verb kEnv{env_command, print_env, true, print_env_failure};

}  // namespace hpcboot::tool
