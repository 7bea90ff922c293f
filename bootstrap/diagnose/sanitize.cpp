#include "hpcboot/sanitize.hpp"

#include <algorithm>
#include <string_view>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"

namespace hpcboot {
namespace {

bool stays(VariableKind kind) {
  return kind == VariableKind::setting || kind == VariableKind::submitter;
}

// What identifies this process in its launch, or connects it to its launcher.
bool is_of_the_launch(std::string_view name) {
  const auto& all = launch_sources();
  return std::any_of(all.begin(), all.end(), [&](const LaunchSource* launcher) {
    const LaunchVariable* found = launcher->variables.find(name);
    return found != nullptr && !stays(found->kind);
  });
}

// What describes the job that the launch runs in. The location of the scheduler is kept, so that
// its commands work.
bool is_of_the_job(std::string_view name) {
  const auto& all = schedulers();
  return std::any_of(all.begin(), all.end(), [&](const Scheduler* scheduler) {
    const LaunchVariable* found = scheduler->variables.find(name);
    return found != nullptr && !stays(found->kind);
  });
}

}  // namespace

std::vector<std::string> variables_to_unset(const Env& env, Inherit inherit) {
  std::vector<std::string> names;
  for (const auto& [name, value] : env.variables()) {
    if ((inherit == Inherit::nothing && is_of_the_job(name)) || is_of_the_launch(name))
      names.push_back(name);
  }
  return names;
}

}  // namespace hpcboot
