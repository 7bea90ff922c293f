#include "plots/run_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace hpcboot::plots {
namespace {

template <typename Value>
bool all_equal(const std::vector<RunData>& runs, Value RunData::*value) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const RunData& run) { return run.*value == runs.front().*value; });
}

/// The settings in which groups of the same name differ: "lr=0.01, batch_size=64".
std::string settings_text(const RunData& run, const std::vector<const RunGroup*>& same_name) {
  constexpr int kMost = 3;
  std::string text;
  int shown = 0;
  for (const auto& [key, value] : run.settings) {
    const bool differs = std::any_of(
        same_name.begin(), same_name.end(), [&, &k = key, &v = value](const RunGroup* group) {
          const auto other = group->runs.front().settings.find(k);
          return other == group->runs.front().settings.end() || other->second != v;
        });
    if (differs && ++shown <= kMost) text += fmt::format(", {}={}", key, value);
  }
  return text;
}

}  // namespace

std::vector<RunGroup> groups_of(const std::vector<RunData>& runs) {
  const bool names_training = !all_equal(runs, &RunData::about);
  const bool names_samples = !all_equal(runs, &RunData::samples);
  const bool names_kind = !all_equal(runs, &RunData::device_kind);
  const bool names_site = !all_equal(runs, &RunData::site);
  const auto key_of = [](const RunData& run) {
    return std::tuple(run.about, run.samples.value_or(0), run.devices, run.nodes, run.method,
                      run.device_kind, run.site, run.work, run.settings);
  };
  std::map<decltype(key_of(runs.front())), RunGroup> groups;
  for (const RunData& run : runs) {
    RunGroup& group = groups[key_of(run)];
    group.name = layout_of(run);
    if (names_kind) group.name += " " + run.device_kind;
    if (names_site && !run.site.empty()) group.name += " at " + run.site;
    if (names_training) group.name += ", " + run.about;
    if (names_samples && run.samples)
      group.name += fmt::format(", {} {}s", *run.samples, run.sample);
    group.runs.push_back(run);
  }
  std::map<std::string, std::vector<const RunGroup*>> by_name;
  for (const auto& [key, group] : groups) by_name[group.name].push_back(&group);
  std::vector<RunGroup> all;
  for (const auto& [key, group] : groups) {
    all.push_back(group);
    all.back().name += settings_text(group.runs.front(), by_name[group.name]);
    all.back().name += fmt::format(" ({})", group.runs.size());
  }
  return all;
}

}  // namespace hpcboot::plots
