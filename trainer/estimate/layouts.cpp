#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/torch/estimate.hpp"
#include "torch/refusal.hpp"

namespace hpcboot::estimate {
namespace {

/// In ascending order.
std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t one = 1; one * one <= number; ++one) {
    if (number % one != 0) continue;
    found.push_back(one);
    if (one != number / one) found.push_back(number / one);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// All ways to lay out a model over `devices` devices.
std::vector<Layout> possible_layouts(const Model& model, std::int64_t devices,
                                     const Layout& settings, const Machine& machine) {
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  std::vector<Layout> layouts;
  for (const std::int64_t tensor : divisors(devices)) {
    const bool divides = tensor == 1 || (model.heads > 0 && model.heads % tensor == 0);
    if (!divides || tensor > machine.devices_per_node) continue;
    for (const std::int64_t pipeline : divisors(devices / tensor)) {
      if (pipeline > layers) break;
      const std::int64_t replicas = devices / tensor / pipeline;
      for (const std::int64_t shard : divisors(replicas)) {
        Layout layout = settings;
        layout.data = replicas / shard;
        layout.shard = shard;
        layout.tensor = tensor;
        layout.pipeline = pipeline;
        layouts.push_back(layout);
      }
    }
  }
  return layouts;
}

}  // namespace

std::vector<Plan> fitting_layouts(const Model& model, const Types& types, int averages,
                                  std::int64_t devices, std::int64_t samples, Layout settings,
                                  const Machine& machine) {
  if (devices < 1 || samples < 1) {
    refuse(std::to_string(devices) + " devices and " + std::to_string(samples) + " samples",
           "at least 1 of both");
  }
  std::vector<Plan> plans;
  for (const Layout& layout : possible_layouts(model, devices, settings, machine)) {
    const std::int64_t replicas = layout.data * layout.shard;
    if (samples % replicas != 0) continue;
    // A large micro-batch needs fewer exchanges, a small one less memory, and its number fills a
    // pipeline.
    std::optional<Plan> best;
    for (const std::int64_t micro : divisors(samples / replicas)) {
      Plan plan{layout, {micro, samples / replicas / micro}, {}, {}};
      plan.needs = estimate(model, types, averages, layout, plan.batch);
      if (plan.needs.memory.peak > machine.memory) continue;
      plan.time = step_time(plan.needs, layout, plan.batch, machine);
      if (!best || plan.time.total() <= best->time.total()) best = plan;
    }
    if (best) plans.push_back(*best);
  }
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& one, const Plan& other) {
    return one.time.total() < other.time.total();
  });
  return plans;
}

}  // namespace hpcboot::estimate
