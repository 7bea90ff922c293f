#include <algorithm>
#include <initializer_list>

#include "core/address.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"

// Pods that work together. Kubeflow's PyTorchJob (Training Operator v1, pkg/controller.v1/pytorch/
// envvar.go) sets RANK (the pod's), WORLD_SIZE = pods * processes per pod, MASTER_ADDR,
// MASTER_PORT, PET_NNODES and PET_NPROC_PER_NODE; "auto" counts as one process in WORLD_SIZE,
// however many torchrun starts. Kubeflow Trainer v2 sets only PET_NNODES, PET_NPROC_PER_NODE,
// PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT. An Indexed Job has JOB_COMPLETION_INDEX.
// PET_* are torchrun's arguments: no variable distinguishes the processes of one pod.
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

// Others that number pods may use an Indexed Job, whose bare index is less specific.
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

// Some templates also set WORLD_SIZE, to the number of pods or of this pod's processes; the index
// is the other's.
bool has_only_size_of(const LaunchSource& other, const Env& env, const Facts& facts) {
  const Detection own = detect_any(
      env, {"RANK", "JOB_COMPLETION_INDEX", "PET_NODE_RANK", "PET_NNODES", "PET_NPROC_PER_NODE"});
  if (own.match == Match::present) return false;
  try {
    const auto size = env.integer("WORLD_SIZE", 1);
    return size == 1 || size == other.read(env, facts).world_size;
  } catch (const Error&) {
    return false;  // which kubernetes reports
  }
}

Detection detect(const Env& env, const Facts& facts) {
  Detection detection =
      detect_any(env, {"PET_NODE_RANK", "PET_NNODES", "PET_NPROC_PER_NODE", "RANK", "WORLD_SIZE"});
  const bool is_indexed = env.has("JOB_COMPLETION_INDEX");
  const bool is_pod = env.has("KUBERNETES_SERVICE_HOST");
  if (is_indexed && (is_pod || detection.match == Match::present)) {
    detection = detect_any(env, {"JOB_COMPLETION_INDEX"});
  } else if (!is_pod) {
    // An index alone may belong to anything, such as a sweep.
    return {};
  }
  if (detection.match != Match::present) return detection;
  const LaunchSource* other = other_of_pods(env, facts);
  if (other != nullptr && (!has_size(env) || has_only_size_of(*other, env, facts)))
    return {Match::refused, std::string(other->set_by) + " numbered the pods and is more specific"};
  const Detection inner =
      detect_any(env, {"LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"});
  if (inner.match == Match::present)
    return {Match::refused,
            inner.reason + ": a launcher or script inside the pod numbered its processes"};
  return detection;
}

[[noreturn]] void fail_several(const std::string& found) {
  throw Error(ErrorCode::missing_variable,
              found + ": RANK and PET_NODE_RANK number pods, and LOCAL_RANK is not set",
              "one process per pod (PET_NPROC_PER_NODE=1), or a launcher inside the pod that "
              "numbers its processes",
              "start the program with torchrun, which reads PET_*; if each pod runs one process, "
              "set PET_NPROC_PER_NODE=1");
}

std::string shown(const Env& env, const char* variable) {
  const auto value = env.text(variable);
  return value ? std::string(variable) + "=" + std::string(value->substr(0, 80))
               : std::string(variable) + " is not set";
}

[[noreturn]] void fail_without_size(const Env& env) {
  const std::string index = env.has("RANK")            ? "RANK"
                            : env.has("PET_NODE_RANK") ? "PET_NODE_RANK"
                                                       : "JOB_COMPLETION_INDEX";
  throw Error(ErrorCode::missing_variable,
              index +
                  " numbers the pods, but none of WORLD_SIZE, PET_NNODES and "
                  "PET_NPROC_PER_NODE is set",
              "the number of pods in PET_NNODES, and of processes per pod in PET_NPROC_PER_NODE",
              "set both in the pod's template; if a pod runs several processes, start them with "
              "torchrun, which reads PET_*");
}

// The number of pods, or of processes if every pod counts as one.
void read_world(const Env& env, LaunchFacts& facts) {
  if (!has_size(env)) fail_without_size(env);
  const std::string elastic(env.text("PET_NNODES").value_or(""));
  if (elastic.find(':') != std::string::npos)
    fail_several("PET_NNODES=" + elastic + " is a range, from which torchrun chooses");
  const auto pods = env.integer("PET_NNODES", 1);
  const auto processes = env.integer("WORLD_SIZE", 1);
  // torchrun resolves "auto", "gpu" and "cpu".
  const std::string per_pod(env.text("PET_NPROC_PER_NODE").value_or("auto"));
  const bool is_word =
      per_pod == "auto" || per_pod == "gpu" || per_pod == "cpu" || per_pod == "xpu";
  if (!is_word && *env.integer("PET_NPROC_PER_NODE", 1) != 1)
    fail_several(shown(env, "PET_NPROC_PER_NODE"));
  // A world of one has a single process, whether pods or processes were counted.
  const bool is_alone =
      processes == 1 && env.integer("RANK") == 0 && !env.has("PET_NPROC_PER_NODE");
  if (is_word && !is_alone && !(pods && processes && *pods == *processes)) {
    fail_several(shown(env, "PET_NPROC_PER_NODE") + ", " + shown(env, "WORLD_SIZE") + ", " +
                 shown(env, "PET_NNODES"));
  }
  if (pods && processes && *pods != *processes) {
    throw Error(
        ErrorCode::inconsistent_placement,
        "kubernetes: " + shown(env, "WORLD_SIZE") + " with " + shown(env, "PET_NNODES") +
            " and PET_NPROC_PER_NODE=1",
        "WORLD_SIZE = PET_NNODES * PET_NPROC_PER_NODE",
        "unset variables that were set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
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
                "the same pod number in both",
                "unset the one that was set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
                "HPCBOOT_LOCAL_RANK");
  }
  // Each job of a JobSet numbers its pods from 0, so the index comes last.
  if (!has_rank && !take(facts, "rank", facts.rank, env, "PET_NODE_RANK") &&
      !take(facts, "rank", facts.rank, env, "JOB_COMPLETION_INDEX")) {
    env.require_integer(env.has("WORLD_SIZE") ? "RANK" : "PET_NODE_RANK", kOperator);
  }
}

LaunchFacts read(const Env& env, const Facts& process) {
  LaunchFacts facts;
  read_world(env, facts);
  read_rank(env, facts);
  const char* per_pod = env.has("PET_NPROC_PER_NODE") ? "PET_NPROC_PER_NODE"
                        : env.has("PET_NNODES")       ? "PET_NNODES"
                                                      : "WORLD_SIZE";
  for (const char* field : {"local_rank", "local_size"}) facts.variables[field] = per_pod;
  facts.master_port = env.port("PET_MASTER_PORT");
  if (facts.master_port) facts.variables["master_port"] = "PET_MASTER_PORT";
  // The operator sets "localhost" in the first pod and that pod's name, which is also its host
  // name, in the others.
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
    "RANK may number pods; launchers inside the pod are more specific",
    "Kubeflow or the pod's template",
    "https://www.kubeflow.org/docs/components/trainer/ ; "
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode",
    kVariables,
    "hosts; which process of a pod this is (torchrun numbers them)",
    kTraits,
    detect,
    read};

}  // namespace hpcboot::sources
