#include "hpcboot/version.hpp"
#include "verbs.hpp"

namespace hpcboot::tool {
namespace {

std::vector<options::Entry> examples() {
  return {{"hpcboot doctor", "find problems, with remedies"},
          {"mpirun -np 2 hpcboot show", "what each rank sees"},
          {"hpcboot run -- python3 train.py", "start one rank per GPU"},
          {"srun hpcboot exec -- python3 train.py", "set RANK, MASTER_ADDR …"},
          {"srun hpcboot check", "try the launch before the program"},
          {"hpcboot run --submit -- python3 train.py", "start the ranks in a batch job"},
          {"hpcboot logs -f", "follow its output"}};
}

// Variables that several verbs read; others are in the help of their verb.
std::vector<options::Entry> environment() {
  return {
      {"HPCBOOT_METHODS", "launchers to try, in this order, instead of all: \"slurm openmpi\""},
      {"HPCBOOT_RANK, HPCBOOT_WORLD_SIZE, HPCBOOT_LOCAL_RANK, HPCBOOT_LOCAL_SIZE, "
       "HPCBOOT_NODE_RANK, HPCBOOT_NUM_NODES",
       "placement; overrides every launcher's"},
      {"HPCBOOT_MASTER_ADDR, HPCBOOT_MASTER_PORT", "where rank 0 listens"},
      {"HPCBOOT_INTERFACE", "network interface for traffic between ranks"},
      {"HPCBOOT_HOST_SUFFIX", "suffix of host names on the fast network: \"i\" turns n1 into n1i"},
      {"HPCBOOT_DEVICE_ORDER",
       "device of each local rank: linear, reverse, numa or a list such as 2,3,0,1"},
      {"HPCBOOT_SITE", "site whose rules apply, if the host name does not identify it"},
      {"HPCBOOT_LAUNCHER_PATH", "folders with descriptions of more launchers, separated by colons"},
      {"HPCBOOT_EXCHANGE_DIR",
       "shared folder in which ranks meet if nothing else is available; one for each launch"},
      {"HPCBOOT_RENDEZVOUS_SECRET_FILE",
       "file with the secret by which ranks authenticate to each other"},
      {"NO_COLOR", "if set, no colours on terminals"}};
}

std::vector<options::Entry> files() {
  return {{"~/.config/hpcboot/sites/*.toml", "profiles of your sites"},
          {"~/.config/hpcboot/launchers/*.toml", "descriptions of more launchers"},
          {"~/.local/state/hpcboot/submitted/", "records of submitted jobs"}};
}

}  // namespace

const std::vector<const Verb*>& verbs() {
  static const std::vector<const Verb*> all = {
      &kShow,   &kEnv,      &kExec,   &kRun,        &kCheck, &kHosts,  &kCapture,
      &kReplay, &kSanitize, &kDoctor, &kLaunchers,  &kLint,  &kScript, &kSite,
      &kJobs,   &kLogs,     &kCancel, &kCompletion, &kManual};
  return all;
}

options::Program program() {
  options::Command command;
  command.program = "hpcboot";
  command.summary = "start distributed programs on clusters: ranks, addresses, jobs";
  command.usage = {"hpcboot VERB [OPTIONS]"};
  command.details = {
      "hpcboot works out this process's rank, the sizes of the launch, its hosts, the address of "
      "rank 0 and this rank's device and network interface, from the environment that launchers "
      "and schedulers set, from this machine, and if necessary from an exchange between the ranks. "
      "It never changes your shell's environment: exec and run set variables only for the "
      "programs that they start, and env only prints them."};
  command.examples = examples();
  command.exit_codes = {{"0", "ok"},
                        {"1", "a check failed, or output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"20 and up", "an error, by its kind (bootstrap/README.md)"}};
  command.more = "README.md and bootstrap/README.md of the project";
  options::Program all{command, std::string(version()), {}, environment(), files()};
  for (const Verb* verb : verbs()) all.verbs.push_back(verb->command());
  return all;
}

}  // namespace hpcboot::tool
