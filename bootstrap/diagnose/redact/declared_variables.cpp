#include "declared_variables.hpp"

#include <algorithm>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/redact.hpp"
#include "hpcboot/scheduler.hpp"
#include "text.hpp"

namespace hpcboot {
namespace {

// In addition to what launchers and schedulers set: the host and devices of a process, and how its
// libraries communicate.
constexpr LaunchVariable kSurroundings[] = {
    {"HOSTNAME", VariableKind::companion},
    {"HOST", VariableKind::companion},
    {"POD_NAME", VariableKind::companion},
    {"SYSTEMNAME", VariableKind::companion},
    {"OMP_NUM_THREADS", VariableKind::setting},
    {"NCCL_*", VariableKind::setting},
    {"RCCL_*", VariableKind::setting},
    {"GLOO_*", VariableKind::setting},
    {"UCX_*", VariableKind::setting},
    {"FI_*", VariableKind::setting},
    {"CUDA_*", VariableKind::setting},
    {"ROCR_*", VariableKind::setting},
    {"HIP_*", VariableKind::setting},
    {"ZE_*", VariableKind::setting},
    {"NVIDIA_VISIBLE_*", VariableKind::setting},
    {"GPU_DEVICE_*", VariableKind::setting},
};

// Calls `visit` with every declared list of variables, and whether a user's file declares it, until
// it returns true.
template <typename Visit>
bool any_list(Visit visit) {
  const auto& launchers = launch_sources();
  const auto& jobs = schedulers();
  const auto ask = [&](const auto* one) { return visit(one->variables, !one->file.empty()); };
  return std::any_of(launchers.begin(), launchers.end(), ask) ||
         std::any_of(jobs.begin(), jobs.end(), ask) || visit(VariableList(kSurroundings), false);
}

}  // namespace

std::optional<VariableKind> redaction::declared_kind(std::string_view name) {
  std::optional<VariableKind> kind;
  any_list([&](const VariableList& list, bool is_users) {
    for (const LaunchVariable& entry : list) {
      if (!are_equal_but_for_case(entry.name, name)) continue;
      const bool is_secret = entry.kind == VariableKind::secret;
      if (is_secret || (!kind && !is_users)) kind = entry.kind;
    }
    return kind == VariableKind::secret;
  });
  return kind;
}

bool is_launch_variable(std::string_view name) {
  bool is_copy = false;
  const bool is_declared = any_list([&](const VariableList& list, bool) {
    const LaunchVariable* found = list.find(name);
    is_copy = found != nullptr && found->kind == VariableKind::submitter;
    return found != nullptr;
  });
  return is_declared && !is_copy;
}

}  // namespace hpcboot
