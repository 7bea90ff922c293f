#include "plots/run_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace hpcboot::plots {
namespace {

template <typename Value>
bool all_equal(const std::vector<RunData>& runs, Value RunData::*value) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const RunData& run) { return run.*value == runs.front().*value; });
}

}  // namespace

std::vector<RunGroup> groups_of(const std::vector<RunData>& runs) {
  const bool names_training = !all_equal(runs, &RunData::about);
  const bool names_samples = !all_equal(runs, &RunData::samples);
  const auto key_of = [](const RunData& run) {
    return std::tuple(run.about, run.samples.value_or(0), run.devices, run.nodes, run.method,
                      run.work);
  };
  std::map<decltype(key_of(runs.front())), RunGroup> groups;
  for (const RunData& run : runs) {
    RunGroup& group = groups[key_of(run)];
    group.name = layout_of(run);
    if (names_training) group.name += ", " + run.about;
    if (names_samples && run.samples)
      group.name += fmt::format(", {} {}s", *run.samples, run.sample);
    group.runs.push_back(run);
  }
  std::vector<RunGroup> all;
  for (auto& [key, group] : groups) {
    group.name += fmt::format(" ({})", group.runs.size());
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace hpcboot::plots
