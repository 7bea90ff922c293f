#include "loop/batch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/counted.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {
namespace {

// Images per step: beyond the memory of any machine, and sums of it fit into 64 bits.
constexpr std::int64_t kMost = 1'000'000'000;

void check_range(const char* option, std::optional<std::int64_t> value) {
  if (!value || (*value >= 1 && *value <= kMost)) return;
  throw UsageError(
      fmt::format("{} is {}; it must be at least 1 and at most {}", option, *value, kMost));
}

// The batch must be a multiple of this.
std::int64_t unit_of(const BatchSizes& asked, int world_size) {
  const std::int64_t micro = asked.micro.value_or(1);
  const std::int64_t passes = asked.accumulate.value_or(1);
  if (micro > kMost / passes || micro * passes > kMost / world_size) {
    throw UsageError(
        fmt::format("--micro-batch {} x --accumulate {} x {} is more than {} samples per step",
                    micro, passes, counted(world_size, "rank"), kMost));
  }
  return micro * passes * world_size;
}

std::int64_t default_batch(const BatchSizes& asked, int world_size, std::size_t devices_per_rank) {
  if (asked.micro) return unit_of(asked, world_size);
  return kBatchPerDevice * world_size * static_cast<std::int64_t>(devices_per_rank);
}

}  // namespace

BatchPlan plan_batches(const BatchSizes& asked, int world_size, std::size_t devices_per_rank) {
  check_range("--batch-size", asked.global);
  check_range("--micro-batch", asked.micro);
  check_range("--accumulate", asked.accumulate);
  const std::int64_t batch =
      asked.global.value_or(default_batch(asked, world_size, devices_per_rank));
  const std::int64_t unit = unit_of(asked, world_size);
  if (asked.micro && asked.accumulate && batch != unit) {
    throw UsageError(fmt::format(
        "--batch-size {} is the global batch, but --micro-batch {} x --accumulate {} x {} "
        "is {}; omit one of the three, or correct it",
        batch, *asked.micro, *asked.accumulate, counted(world_size, "rank"), unit));
  }
  if (batch % unit != 0) {
    std::string divisor = counted(world_size, "rank");
    if (asked.micro) divisor += fmt::format(" x --micro-batch {}", *asked.micro);
    if (asked.accumulate) divisor += fmt::format(" x --accumulate {}", *asked.accumulate);
    const std::int64_t below = batch / unit * unit;
    throw UsageError(
        fmt::format("--batch-size {} is the global batch, but it is not a multiple of {}; the "
                    "nearest multiples: {}{}",
                    batch, divisor, below > 0 ? fmt::format("{} and ", below) : "", below + unit));
  }
  BatchPlan plan;
  plan.global = batch;
  plan.local = batch / world_size;
  plan.micro = asked.micro.value_or(plan.local / asked.accumulate.value_or(1));
  return plan;
}

std::int64_t smallest_pass(std::int64_t samples, const BatchPlan& batches,
                           std::size_t devices_per_rank) {
  const auto devices = static_cast<std::int64_t>(devices_per_rank);
  std::int64_t smallest = batches.micro;
  const auto consider = [&](std::int64_t pass) {
    if (pass == 0) return;
    const std::int64_t part = (pass + devices - 1) / devices;  // as Tensor::chunk() divides
    smallest = std::min(smallest, pass % part == 0 ? part : pass % part);
  };
  if (samples >= batches.micro) consider(batches.micro);
  // The rest of an epoch is a smaller batch; micro-batches divide the others evenly.
  consider(samples % batches.local % batches.micro);
  return smallest;
}

}  // namespace hpcboot::train
