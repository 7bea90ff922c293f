#include "hpcboot/launch_source.hpp"

#include <algorithm>
#include <array>

#include "core/launchers/description.hpp"
#include "core/launchers/launchers.hpp"
#include "core/launchers/shipped.hpp"
#include "core/schedulers/schedulers.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

// The launchers written in C++, innermost first. Each source states why it has this precedence
// (`hpcboot show --explain`). A test compares the table in bootstrap/README.md with all launchers.
constexpr std::array kInCode = {
    &sources::kExplicit, &sources::kTorchrun,   &sources::kOpenmpi,   &sources::kMvapich,
    &sources::kHydra,    &sources::kPals,       &sources::kFlux,      &sources::kSlurm,
    &sources::kLsf,      &sources::kKubernetes, &sources::kSagemaker, &sources::kTfConfig,
    &sources::kVolcano,  &sources::kGeneric,    &sources::kPmix,      &sources::kPmi2,
    &sources::kPbsdsh,
};

struct Table {
  std::vector<const LaunchSource*> launchers;
  std::vector<DescribedLauncher> added;  // keeps them alive
};

void sort_by_level(std::vector<const LaunchSource*>& launchers) {
  std::stable_sort(
      launchers.begin(), launchers.end(),
      [](const LaunchSource* a, const LaunchSource* b) { return a->level < b->level; });
}

Table& table() {
  static Table built_in = [] {
    Table table;
    table.launchers.assign(kInCode.begin(), kInCode.end());
    for (const LaunchSource& launcher : kShippedLaunchers) table.launchers.push_back(&launcher);
    sort_by_level(table.launchers);
    return table;
  }();
  return built_in;
}

template <typename T>
void refuse_taken(const std::vector<const T*>& known, const T& added) {
  const bool is_taken = std::any_of(known.begin(), known.end(),
                                    [&](const T* entry) { return entry->name == added.name; });
  if (!is_taken) return;
  throw Error(
      ErrorCode::malformed_file,
      std::string(added.file) + ": the name " + std::string(added.name) + " is already taken",
      "a unique name; `hpcboot launchers` lists the names in use",
      "choose another name, or remove one of the files");
}

}  // namespace

const std::vector<const LaunchSource*>& launch_sources() {
  return table().launchers;
}

void add_launchers(const std::vector<DescribedLauncher>& launchers) {
  Table grown = table();
  std::vector<const Scheduler*> jobs = schedulers();
  std::vector<const LaunchSource*> added;
  for (const DescribedLauncher& entry : launchers) {
    if (entry.launcher) {
      refuse_taken(grown.launchers, *entry.launcher);
      refuse_taken(added, *entry.launcher);
      added.push_back(entry.launcher.get());
    }
    if (entry.scheduler) {
      refuse_taken(jobs, *entry.scheduler);
      jobs.push_back(entry.scheduler.get());
    }
    grown.added.push_back(entry);
  }
  // User descriptions come first within a level: their authors know their machine.
  grown.launchers.insert(grown.launchers.begin(), added.begin(), added.end());
  sort_by_level(grown.launchers);
  table() = std::move(grown);
  set_schedulers(std::move(jobs));
}

LauncherTraits traits_of(std::string_view launcher) noexcept {
  const auto& all = launch_sources();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const LaunchSource* source) { return source->name == launcher; });
  return found == all.end() ? LauncherTraits{} : (*found)->traits;
}

Detection LaunchSource::detect(const Env& env, const Facts& facts) const {
  return description != nullptr ? detect_described(*description, env) : detect_in(env, facts);
}

LaunchFacts LaunchSource::read(const Env& env, const Facts& facts) const {
  if (description != nullptr) return read_described(*this, env);
  LaunchFacts said = read_from(env, facts);
  if (traits.one_process_a_host) sources::spread_over_hosts(said);
  return said;
}

std::optional<bool> LaunchSource::is_live(const Env& env, const Facts& facts) const {
  return is_live_in == nullptr ? std::nullopt : is_live_in(env, facts);
}

}  // namespace hpcboot
