#include "hpcboot/export.hpp"
#include "lone_process.hpp"
#include "options.hpp"
#include "rendezvous.hpp"

namespace hpcboot::tool {
namespace {

int print_env(const Arguments& arguments) {
  const auto values = parse(
      arguments,
      "Usage: eval \"$(hpcboot env)\"\n\n"
      "Prints shell commands that export what torch.distributed programs read: RANK, WORLD_SIZE,\n"
      "LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT,\n"
      "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME, the last two unless they are set already. What "
      "is\n"
      "not known is left out, or unset. HPCBOOT_EXPORTED marks them: hpcboot under a launcher "
      "that\n"
      "you start later ignores them. Outside of jobs a process that no launcher placed is rank 0 "
      "of\n"
      "1. In a batch script only MASTER_ADDR and MASTER_PORT are printed, because every task that "
      "the\n"
      "script starts would inherit this RANK: write srun hpcboot exec … there.\n",
      environment_options());
  if (!values) return 0;
  const Env env = env_as_asked(*values);
  Resolution r = resolve_as_asked(env, *values);
  if (is_alone(r) && !r.scheduler) {
    // The port that is derived from host and user is that of their other processes, too.
    const bool is_this_process = values->count("env-file") == 0;
    if (is_this_process && r.provenance["master_port"].source == "rule")
      r.master_port = rendezvous::take_a_free_port()->number();
    r.launcher = kMadeAlone;
  }
  for (const std::string& name : torch_unset(r, env)) out() << "unset " << name << "\n";
  out() << Encoded::as_is(to_shell(torch_env(r, env)));
  for (const auto& [field, value] : {std::make_pair("MASTER_ADDR", r.master_addr.has_value()),
                                     std::make_pair("MASTER_PORT", r.master_port.has_value())}) {
    if (!value) {
      err() << "note: " << field
            << " is left out: only an exchange between the ranks can tell it; set HPCBOOT_" << field
            << " to choose it\n";
    }
  }
  for (const std::string& hint : r.hints) err() << "hint: " << hint << "\n";
  return 0;
}

}  // namespace

const Verb kEnv{"env", "print export lines for torch.distributed programs", print_env, true};

}  // namespace hpcboot::tool
