#include "record/run_phases.hpp"

#include <algorithm>

namespace hpcboot::record {
namespace {

using Seconds = std::optional<double>;

/// The sum over the epochs that have the value; none if no epoch has.
Seconds sum_of(const std::vector<EpochRecord>& epochs, Seconds EpochRecord::*value) {
  Seconds sum;
  for (const EpochRecord& epoch : epochs) {
    if (epoch.*value) sum = sum.value_or(0) + *(epoch.*value);
  }
  return sum;
}

/// What is left of `whole`; none unless all parts are known: a missing one would count as it.
Seconds rest_of(const Seconds& whole, const std::vector<Seconds>& parts) {
  if (!whole) return std::nullopt;
  double rest = *whole;
  for (const Seconds& part : parts) {
    if (!part) return std::nullopt;
    rest -= *part;
  }
  return std::max(0.0, rest);
}

}  // namespace

std::vector<Phase> run_phases(const RunRecord& run) {
  const Totals& totals = run.totals;
  std::vector<Phase> phases{{"launch", 0, totals.launch_seconds},
                            {"runtime", 0, totals.runtime_seconds},
                            {"start-up", 1, totals.start_up_seconds},
                            {"training", 1, totals.train_seconds}};
  std::vector<Seconds> parts;
  for (const StepPart& part : kStepParts) {
    parts.push_back(sum_of(run.epochs, part.seconds));
    phases.push_back({part.name, 2, parts.back()});
  }
  phases.push_back({"other training", 2, rest_of(totals.train_seconds, parts)});
  phases.push_back({"validation", 1, totals.validation_seconds});
  phases.push_back({"checkpoints", 1, totals.checkpoint_seconds});
  phases.push_back(
      {"other", 1,
       rest_of(totals.runtime_seconds, {totals.start_up_seconds, totals.train_seconds,
                                        totals.validation_seconds, totals.checkpoint_seconds})});
  return phases;
}

std::vector<std::int64_t> last_steps(const std::vector<EpochRecord>& epochs) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53U;  // hostile numbers must not overflow
  std::vector<std::int64_t> steps;
  std::int64_t last = 0;
  for (const EpochRecord& epoch : epochs) {
    last = std::min(kMost, last + std::clamp<std::int64_t>(epoch.steps.value_or(1), 1, kMost));
    steps.push_back(last);
  }
  return steps;
}

}  // namespace hpcboot::record
