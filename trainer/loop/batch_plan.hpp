#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hpcboot::train {

/// By default each device gets this many images a step.
constexpr std::int64_t kBatchPerDevice = 64;

/// What the user asked for.
struct BatchSizes {
  std::optional<std::int64_t> global;      ///< --batch-size
  std::optional<std::int64_t> micro;       ///< --micro-batch
  std::optional<std::int64_t> accumulate;  ///< --accumulate
};

/// The global batch of a step, one rank's part of it, and what a rank computes in one pass.
/// global = ranks x local, local = accumulate x micro.
struct BatchPlan {
  std::int64_t global = 0;
  std::int64_t local = 0;
  std::int64_t micro = 0;
};

/// @param devices_per_rank of them each gets its part of the rank's batch; they need not divide it
/// @throws UsageError where the numbers do not fit each other; it names them, and the nearest
/// global
///         batches that do
BatchPlan plan_batches(const BatchSizes& asked, int world_size, std::size_t devices_per_rank = 1);

}  // namespace hpcboot::train
