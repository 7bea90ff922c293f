#include <algorithm>
#include <unordered_set>

#include "hpcboot/error.hpp"
#include "launchers.hpp"

// SageMaker's training toolkit runs a script once on each host and sets SM_HOSTS (a JSON list),
// SM_CURRENT_HOST and SM_NUM_GPUS; TRAINING_JOB_NAME names the job. So with these variables alone,
// each host has one process, whatever its devices. More processes come from torchrun or mpirun,
// which the toolkit starts for other distributions and whose own variables take precedence; a RANK
// set by a script belongs to the script. Source: aws/sagemaker-training-toolkit,
// ENVIRONMENT_VARIABLES.md.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"SM_HOSTS", kCompanion, kRequired},     {"SM_CURRENT_HOST", kIdentity, kRequired},
    {"TRAINING_JOB_NAME", kSetting, kUsed},  {"SM_NUM_GPUS", kSetting},
    {"SM_NETWORK_INTERFACE_NAME", kSetting}, {"SM_CURRENT_INSTANCE_TYPE", kSetting},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.one_process_a_host = true;
  return traits;
}();

[[noreturn]] void fail_hosts(std::string_view text) {
  throw Error(ErrorCode::malformed_value, "SM_HOSTS='" + std::string(text.substr(0, 80)) + "'",
              R"(a JSON list of distinct host names: ["algo-1","algo-2"])",
              "keep SageMaker's environment intact, or set HPCBOOT_METHODS to the intended "
              "launcher");
}

std::vector<std::string> parse_hosts(std::string_view text) {
  std::vector<std::string> hosts;
  std::unordered_set<std::string_view> known;
  std::string_view rest = text;
  const auto take_token = [&](char token) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (rest.empty() || rest.front() != token) return false;
    rest.remove_prefix(1);
    return true;
  };
  if (!take_token('[')) fail_hosts(text);
  do {
    if (!take_token('"')) fail_hosts(text);
    const std::string_view host = rest.substr(0, rest.find('"'));
    rest.remove_prefix(host.size());
    // Host names contain nothing that JSON would escape.
    const bool is_name = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '.' || c == '_';
    });
    if (!is_name || !take_token('"')) fail_hosts(text);
    if (!known.insert(host).second) fail_hosts(text);
    hosts.emplace_back(host);
  } while (take_token(','));
  if (!take_token(']') || rest.find_first_not_of(" \t\r\n") != std::string_view::npos)
    fail_hosts(text);
  return hosts;
}

Detection detect(const Env& env, const Facts&) {
  Detection detection = detect_any(env, {"SM_HOSTS", "SM_CURRENT_HOST"});
  if (detection.match != Match::present) return detection;
  const Detection inner = detect_any(env, {"RANK", "LOCAL_RANK"});
  if (inner.match == Match::present)
    return {Match::refused,
            inner.reason + ": a launcher or script on the host numbered its processes"};
  return detection;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  facts.hosts = parse_hosts(env.require_text("SM_HOSTS", "SageMaker"));
  const std::string_view self = env.require_text("SM_CURRENT_HOST", "SageMaker");
  const auto found = std::find(facts.hosts.begin(), facts.hosts.end(), self);
  if (found == facts.hosts.end()) {
    throw Error(ErrorCode::inconsistent_placement,
                "SM_CURRENT_HOST='" + std::string(self) + "' is not in SM_HOSTS='" +
                    std::string(*env.text("SM_HOSTS")) + "'",
                "one of the hosts of SM_HOSTS", "keep SageMaker's environment intact");
  }
  facts.rank = static_cast<int>(found - facts.hosts.begin());
  facts.world_size = static_cast<int>(facts.hosts.size());
  facts.variables["rank"] = "SM_CURRENT_HOST";
  for (const char* field : {"world_size", "hosts"}) facts.variables[field] = "SM_HOSTS";
  facts.identity = env.text("TRAINING_JOB_NAME").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kSagemaker{
    "sagemaker",
    Level::pod,
    "one process per host; torchrun and mpirun on it are more specific",
    "SageMaker",
    "https://github.com/aws/sagemaker-training-toolkit/blob/master/ENVIRONMENT_VARIABLES.md",
    kVariables,
    "which process of a host this is (torchrun or mpirun numbers them)",
    kTraits,
    detect,
    read};

}  // namespace hpcboot::sources
