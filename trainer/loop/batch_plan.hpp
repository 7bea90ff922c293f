#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hpcboot::train {

/// Default number of samples per device and step.
constexpr std::int64_t kBatchPerDevice = 64;

/// The sizes given by the user.
struct BatchSizes {
  std::optional<std::int64_t> global;      ///< --batch-size
  std::optional<std::int64_t> micro;       ///< --micro-batch
  std::optional<std::int64_t> accumulate;  ///< --accumulate
};

/// The global batch of a step, one rank's part of it, and the part that a rank computes in one
/// pass. global = ranks x local, local = accumulate x micro.
struct BatchPlan {
  std::int64_t global = 0;
  std::int64_t local = 0;
  std::int64_t micro = 0;
};

/// @param devices_per_rank each gets a part of the rank's batch, which need not be a multiple of
///        this number
/// @throws UsageError if the numbers contradict each other, naming them and the nearest global
///         batches that are possible
BatchPlan plan_batches(const BatchSizes& asked, int world_size, std::size_t devices_per_rank = 1);

/// The fewest samples that a device computes at once in an epoch.
/// @param samples of one rank in an epoch
std::int64_t smallest_pass(std::int64_t samples, const BatchPlan& batches,
                           std::size_t devices_per_rank);

}  // namespace hpcboot::train
