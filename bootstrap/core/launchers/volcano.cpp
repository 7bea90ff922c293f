#include <set>

#include "description.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"

// In every pod of a job, Volcano's plugins env and svc set VC_TASK_INDEX (and VK_TASK_INDEX), the
// pod's number within its task, and VC_<TASK>_HOSTS and VC_<TASK>_NUM for every task of the job. No
// variable names the task of a pod, so only jobs with a single task can be resolved. The plugin
// pytorch also sets RANK and WORLD_SIZE, which `kubernetes` reads. Source: volcano-sh/volcano,
// pkg/controllers/job/plugins/env/const.go and svc/const.go
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"VC_TASK_INDEX", kIdentity, kUsed},
    {"VK_TASK_INDEX", kIdentity, kUsed},
    {"VC_*", kCompanion},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.one_process_a_host = true;
  return traits;
}();

Detection detect(const Env& env, const Facts&) {
  Detection detection = detect_any(env, {"VC_TASK_INDEX", "VK_TASK_INDEX"});
  if (detection.match != Match::present) return detection;
  const Detection inner = detect_any(env, {"RANK", "LOCAL_RANK", "TF_CONFIG"});
  if (inner.match == Match::present)
    return {Match::refused, inner.reason + ": another launcher or script numbered this process"};
  return detection;
}

// "VC_WORKER" and so on, one for each task.
std::vector<std::string> prefixes_of_tasks(const Env& env) {
  constexpr std::string_view kBegin = "VC_";
  std::set<std::string> prefixes;
  const auto& all = env.variables();
  for (auto it = all.lower_bound(kBegin); it != all.end(); ++it) {
    const std::string_view name = it->first;
    if (name.substr(0, kBegin.size()) != kBegin) break;
    for (const std::string_view end : {"_NUM", "_HOSTS"}) {
      if (name.size() > kBegin.size() + end.size() && name.substr(name.size() - end.size()) == end)
        prefixes.emplace(name.substr(0, name.size() - end.size()));
    }
  }
  return {prefixes.begin(), prefixes.end()};
}

// VC_WORKER_HOSTS along with VC_WORKER_NUM: the pods' names, ordered by number.
void read_hosts(LaunchFacts& facts, const Env& env, const std::string& prefix) {
  const std::string variable = prefix + "_HOSTS";
  const auto text = env.text(variable);
  if (!text) return;
  facts.hosts = parse_hosts(*text, {variable, HostForm::commas});
  facts.variables["hosts"] = variable;
  if (static_cast<int>(facts.hosts.size()) == *facts.world_size) return;
  throw Error(ErrorCode::inconsistent_placement,
              "volcano: " + variable + " has " + std::to_string(facts.hosts.size()) + " hosts",
              std::to_string(*facts.world_size) + ", according to " + prefix + "_NUM",
              "unset variables that were set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
              "HPCBOOT_LOCAL_RANK");
}

[[noreturn]] void fail_tasks(const std::vector<std::string>& prefixes) {
  std::string found = "VC_TASK_INDEX numbers the pods of one task, but ";
  found += prefixes.empty() ? "no VC_<TASK>_NUM is set" : "the job has several tasks:";
  for (const std::string& prefix : prefixes) found += " " + prefix + "_NUM";
  throw Error(ErrorCode::missing_variable, found, "a job with one task and the plugin svc",
              "start the program with torchrun or mpirun, or set HPCBOOT_RANK, "
              "HPCBOOT_WORLD_SIZE and HPCBOOT_LOCAL_RANK");
}

LaunchFacts read(const Env& env, const Facts&) {
  const std::vector<std::string> prefixes = prefixes_of_tasks(env);
  if (prefixes.size() != 1) fail_tasks(prefixes);
  const std::string size = prefixes.front() + "_NUM";
  LaunchFacts facts;
  if (!take(facts, "rank", facts.rank, env, "VC_TASK_INDEX"))
    need(facts, "rank", facts.rank, env, "VK_TASK_INDEX", "Volcano");
  need(facts, "world_size", facts.world_size, env, size.c_str(), "Volcano", 1);
  read_hosts(facts, env, prefixes.front());
  return facts;
}

}  // namespace

const LaunchSource kVolcano{
    "volcano",
    Level::pod,
    "one process per pod; launchers inside the pod are more specific",
    "Volcano's plugins env and svc",
    "volcano-sh/volcano, pkg/controllers/job/plugins/env/const.go and svc/const.go",
    kVariables,
    "which task a pod belongs to, if the job has several; which process of a pod this is",
    kTraits,
    detect,
    read};

}  // namespace hpcboot::sources
