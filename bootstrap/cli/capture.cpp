#include <unistd.h>

#include <algorithm>
#include <optional>

#include "core/ancestors.hpp"
#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/redact.hpp"
#include "hpcboot/version.hpp"
#include "json/facts_json.hpp"
#include "options.hpp"
#include "private_folder.hpp"

namespace hpcboot::tool {
namespace {

// Host name and process id, in characters that are safe in a file name.
std::string name_without_rank(const Facts& facts) {
  std::string host = facts.hostname.value_or("host");
  std::replace_if(
      host.begin(), host.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_');
      },
      '_');
  return host + "-" + std::to_string(getpid());
}

// Claims a name that no other process has, by creating its host-name file first.
std::string claim_name(const PrivateFolder& folder, const std::optional<int>& rank,
                       const Facts& facts) {
  const std::string content = facts.hostname.value_or("") + "\n";
  if (rank) {
    std::string name = "rank" + std::to_string(*rank);
    if (folder.create(name + ".hostname", content)) return name;
    err() << "note: " << folder.path() << " already contains rank " << *rank
          << ": two processes have this rank, or the folder was used before\n";
  }
  // Containers may share host names and process ids.
  const std::string base = name_without_rank(facts);
  std::string name = base;
  for (int i = 2; !folder.create(name + ".hostname", content); ++i) {
    name = base + "-" + std::to_string(i);
  }
  return name;
}

void capture_files(const PrivateFolder& folder, const std::string& name, const Env& env) {
  const auto copy = [&](const char* variable, const char* suffix) {
    const auto path = env.text(variable);
    const auto text = path ? read_file(std::string(*path)) : std::nullopt;
    return text && folder.create(name + suffix, *text);
  };
  for (const char* variable :
       {"PBS_NODEFILE", "PE_HOSTFILE", "LSB_DJOB_HOSTFILE", "COBALT_NODEFILE"}) {
    if (copy(variable, ".nodefile")) break;
  }
  copy("PALS_APINFO", ".apinfo");
}

// The rank of this process; nullopt if it cannot be determined, or if no launcher placed it:
// otherwise every process of a broken job would be rank 0.
std::optional<int> rank_of(const Env& env, const Facts& facts) {
  try {
    const Resolution r = resolve(env, facts);
    if (r.launcher != "single") return r.placement.rank;
    err() << "note: no launcher placed this process; it is captured under its host name and "
             "process id\n";
  } catch (const Error& error) {
    err() << "note: the rank of this process cannot be determined; it is captured under its host "
             "name and process id\n";
    print_error("hpcboot", error);
  }
  return std::nullopt;
}

options::Command capture_command() {
  options::Command command{"hpcboot",
                           "capture",
                           "record what replay needs, without secrets, for every rank",
                           {"srun|mpirun … hpcboot capture [OPTIONS] DIR"},
                           {{"srun hpcboot capture job", "on the cluster, in the job"},
                            {"hpcboot replay job", "afterwards, on any machine"}}};
  command.details = {
      "Every rank writes what `hpcboot replay DIR` needs to resolve it again: its environment, "
      "host name, nodefile, network interfaces, and its ancestor processes with the launcher "
      "variables of each. DIR must be on a file system that all ranks share; it is created with "
      "mode 0700 (an existing one must have it and be yours), its files with 0600. Nothing is "
      "overwritten: use a new DIR for every capture.",
      "Only variables of launchers, schedulers, device masks and communication libraries are kept. "
      "Passwords, tokens, keys and cookies are REDACTED, by name and by pattern, also within "
      "command lines. Addresses and the names of hosts, users and folders are kept: review DIR "
      "before you share it."};
  command.groups = {{"Options",
                     {{"all", options::flag(),
                       "keep every variable, not only those of launchers and schedulers; secrets "
                       "are still redacted"}}}};
  command.operands = {{"dir", options::text("DIR", options::Completes::folder), 1}};
  command.exit_codes = {{"0", "recorded, even if the rank is unknown"},
                        {"2", "the command line is wrong"},
                        {"42", "DIR cannot be written"}};
  return command;
}

int capture(const Call& call) {
  if (call.values.count("dir") == 0) throw UsageError("capture needs the folder to write to");

  const Env env = Env::from_process();
  Facts facts = Facts::of_this_process(env);
  // For readers of the capture, even if only one launcher is present.
  if (!facts.ancestors) facts.ancestors = ancestors_of_this_process(env, facts.hostname);
  const PrivateFolder folder(call.values["dir"].as<std::string>());
  const std::string name = claim_name(folder, rank_of(env, facts), facts);
  Json object = to_json(facts);
  object["hpcboot"] = version();
  folder.create(name + ".facts.json", json_text(object, 2).str() + "\n");
  capture_files(folder, name, env);
  const Keep keep = call.values.count("all") != 0 ? Keep::all_variables : Keep::launch_variables;
  // Last: its presence marks the rank as complete.
  folder.publish(name + ".env", redact(env, keep).dump());
  out() << folder.path() << "/" << name << ".env\n";
  return 0;
}

}  // namespace

const Verb kCapture{capture_command, capture, true};

}  // namespace hpcboot::tool
