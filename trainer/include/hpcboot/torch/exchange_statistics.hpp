#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace hpcboot {

/// What the exchanges of gradients of a DistributedDataParallel cost. All but `exchanges` is about
/// the last one that got to its end. Times are those of the host: on a GPU, transfers end later
/// than is seen here.
struct ExchangeStatistics {
  struct Bucket {
    std::int64_t bytes = 0;       ///< that this rank passed to collectives
    double started_seconds = 0;   ///< after the start of the first bucket
    double exchange_seconds = 0;  ///< from its start to its end
  };

  std::int64_t exchanges = 0;   ///< since the construction; no_sync() saves some
  std::vector<Bucket> buckets;  ///< in the order of their start
  std::int64_t bytes = 0;       ///< of all buckets
  /// When the last gradient was ready. From then to the end of backward(), this rank waits for the
  /// other ranks and the network.
  std::chrono::steady_clock::time_point last_gradient;
  /// How long at least one bucket was under way, and how much of that was after the last gradient.
  double busy_seconds = 0;
  double exposed_seconds = 0;

  /// The share of busy_seconds, 0 to 1, in which this rank computed gradients as well.
  double overlap() const { return busy_seconds > 0 ? 1 - exposed_seconds / busy_seconds : 0; }
};

}  // namespace hpcboot
