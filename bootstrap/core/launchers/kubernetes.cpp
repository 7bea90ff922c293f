#include <algorithm>

#include "core/address.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"

// Pods that work together. Kubeflow's PyTorchJob (Training Operator v1, pkg/controller.v1/pytorch/
// envvar.go) sets RANK, the pod's, WORLD_SIZE = pods * processes of a pod, MASTER_ADDR,
// MASTER_PORT, PET_NNODES and PET_NPROC_PER_NODE; its "auto" counts as one process in WORLD_SIZE,
// whatever torchrun makes of it. Kubeflow Trainer v2 sets PET_NNODES, PET_NPROC_PER_NODE,
// PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT alone. An Indexed Job has
// JOB_COMPLETION_INDEX. PET_* are torchrun's arguments: nothing here tells the processes of one pod
// apart.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"RANK", kIdentity, kUsed},
    {"PET_NODE_RANK", kIdentity, kUsed},
    {"JOB_COMPLETION_INDEX", kIdentity, kUsed},
    {"WORLD_SIZE", kSize, kUsed},
    {"PET_NNODES", kSize, kUsed},
    {"PET_NPROC_PER_NODE", kSize, kUsed},
    {"PET_MASTER_ADDR", kCompanion, kUsed},
    {"PET_MASTER_PORT", kCompanion, kUsed},
    {"MASTER_ADDR", kCompanion, kUsed},
    {"PET_*", kCompanion},
    {"KUBERNETES_SERVICE_HOST", kSetting, kUsed},
};

constexpr LauncherTraits kTraits = [] {
  LauncherTraits traits;
  traits.one_process_a_host = true;
  return traits;
}();

constexpr const char* kOperator = "Kubeflow or the pod's template";

// Whoever else numbers pods may use an Indexed Job for it, whose index alone says less.
const LaunchSource* other_of_pods(const Env& env, const Facts& facts) {
  const auto& all = launch_sources();
  const auto found = std::find_if(all.begin(), all.end(), [&](const LaunchSource* source) {
    return source->level == Level::pod && source->name != "kubernetes" &&
           source->detect(env, facts).match == Match::present;
  });
  return found == all.end() ? nullptr : *found;
}

bool has_size(const Env& env) {
  return env.has("WORLD_SIZE") || env.has("PET_NNODES") || env.has("PET_NPROC_PER_NODE");
}

Detection detect(const Env& env, const Facts& facts) {
  Detection detection =
      detect_any(env, {"PET_NODE_RANK", "PET_NNODES", "PET_NPROC_PER_NODE", "RANK", "WORLD_SIZE"});
  const bool is_indexed = env.has("JOB_COMPLETION_INDEX");
  const bool is_pod = env.has("KUBERNETES_SERVICE_HOST");
  if (is_indexed && (is_pod || detection.match == Match::present)) {
    detection = detect_any(env, {"JOB_COMPLETION_INDEX"});
  } else if (!is_pod) {
    // An index alone may be anybody's, as of a sweep.
    return {};
  }
  if (detection.match != Match::present) return detection;
  const LaunchSource* other = has_size(env) ? nullptr : other_of_pods(env, facts);
  if (other != nullptr)
    return {Match::refused, std::string(other->set_by) + " numbered the pods, and says more"};
  const Detection inner =
      detect_any(env, {"LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"});
  if (inner.match == Match::present)
    return {Match::refused, inner.reason + ": somebody inside the pod numbered its processes"};
  return detection;
}

[[noreturn]] void fail_several(const std::string& found) {
  throw Error(
      ErrorCode::missing_variable,
      found + ": RANK and PET_NODE_RANK number pods, and LOCAL_RANK is not set",
      "one process in each pod (PET_NPROC_PER_NODE=1), or a launcher inside the pod that "
      "numbers its processes",
      "start the program with torchrun, which reads PET_*; where each pod runs one process, "
      "set PET_NPROC_PER_NODE=1");
}

std::string shown(const Env& env, const char* variable) {
  const auto value = env.text(variable);
  return value ? std::string(variable) + "=" + std::string(value->substr(0, 80))
               : std::string(variable) + " is not set";
}

// The number of pods, or of processes, for which one pod counts one.
void read_world(const Env& env, LaunchFacts& facts) {
  const std::string elastic(env.text("PET_NNODES").value_or(""));
  if (elastic.find(':') != std::string::npos)
    fail_several("PET_NNODES=" + elastic + " is a range, from which torchrun chooses");
  const auto pods = env.integer("PET_NNODES", 1);
  const auto processes = env.integer("WORLD_SIZE", 1);
  // "auto", "gpu" and "cpu" are torchrun's to work out.
  const std::string per_pod(env.text("PET_NPROC_PER_NODE").value_or("auto"));
  const bool is_word =
      per_pod == "auto" || per_pod == "gpu" || per_pod == "cpu" || per_pod == "xpu";
  if (!is_word && *env.integer("PET_NPROC_PER_NODE", 1) != 1)
    fail_several(shown(env, "PET_NPROC_PER_NODE"));
  // Nobody shares a world of one, whether pods or processes were counted.
  const bool is_alone =
      processes == 1 && env.integer("RANK") == 0 && !env.has("PET_NPROC_PER_NODE");
  if (is_word && !is_alone && !(pods && processes && *pods == *processes)) {
    fail_several(shown(env, "PET_NPROC_PER_NODE") + ", " + shown(env, "WORLD_SIZE") + ", " +
                 shown(env, "PET_NNODES"));
  }
  if (pods && processes && *pods != *processes) {
    throw Error(ErrorCode::inconsistent_placement,
                "kubernetes: " + shown(env, "WORLD_SIZE") + " with " + shown(env, "PET_NNODES") +
                    " and PET_NPROC_PER_NODE=1",
                "WORLD_SIZE = PET_NNODES * PET_NPROC_PER_NODE",
                "unset what was set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
                "HPCBOOT_LOCAL_RANK");
  }
  if (!take(facts, "world_size", facts.world_size, env, "WORLD_SIZE", 1))
    need(facts, "world_size", facts.world_size, env, "PET_NNODES", kOperator, 1);
}

void read_rank(const Env& env, LaunchFacts& facts) {
  const bool has_rank = take(facts, "rank", facts.rank, env, "RANK");
  const auto node_rank = env.integer("PET_NODE_RANK");
  if (has_rank && node_rank && *node_rank != *facts.rank) {
    throw Error(ErrorCode::inconsistent_placement,
                "kubernetes: " + shown(env, "RANK") + " with " + shown(env, "PET_NODE_RANK"),
                "the same number of one pod in both",
                "unset the one that was set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
                "HPCBOOT_LOCAL_RANK");
  }
  // Of several jobs in a JobSet each counts its pods from 0: the index comes last.
  if (!has_rank && !take(facts, "rank", facts.rank, env, "PET_NODE_RANK") &&
      !take(facts, "rank", facts.rank, env, "JOB_COMPLETION_INDEX")) {
    env.require_integer(env.has("WORLD_SIZE") ? "RANK" : "PET_NODE_RANK", kOperator);
  }
}

LaunchFacts read(const Env& env, const Facts& process) {
  LaunchFacts facts;
  read_world(env, facts);
  read_rank(env, facts);
  facts.local_rank = 0;
  facts.local_size = 1;
  facts.node_rank = facts.rank;
  facts.num_nodes = facts.world_size;
  const char* per_pod = env.has("PET_NPROC_PER_NODE") ? "PET_NPROC_PER_NODE"
                        : env.has("PET_NNODES")       ? "PET_NNODES"
                                                      : "WORLD_SIZE";
  for (const char* field : {"local_rank", "local_size"}) facts.variables[field] = per_pod;
  facts.variables["node_rank"] = facts.variables["rank"];
  facts.variables["num_nodes"] = facts.variables["world_size"];
  facts.master_port = env.port("PET_MASTER_PORT");
  if (facts.master_port) facts.variables["master_port"] = "PET_MASTER_PORT";
  // The operator tells the first pod "localhost" and the others that pod's name, which is its host
  // name, too.
  const char* variable = env.has("MASTER_ADDR") ? "MASTER_ADDR" : "PET_MASTER_ADDR";
  const auto text = env.text(variable);
  const auto address = text ? std::make_optional(checked_address(variable, *text)) : std::nullopt;
  if (address && is_loopback(*address)) {
    if (*facts.rank == 0 && *facts.world_size > 1 && process.hostname) {
      facts.rank0_host = *process.hostname;
      facts.variables["master_addr"] = variable;
    }
  } else if (address) {
    facts.rank0_host = *address;
    facts.variables["master_addr"] = variable;
  }
  return facts;
}

}  // namespace

const LaunchSource kKubernetes{
    "kubernetes",
    Level::pod,
    "RANK may be a pod's; launchers inside the pod say more",
    "Kubeflow or the pod's template",
    "https://www.kubeflow.org/docs/components/trainer/ ; "
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode",
    kVariables,
    "hosts; processes of one pod apart: that is torchrun's work",
    kTraits,
    detect,
    read};

}  // namespace hpcboot::sources
