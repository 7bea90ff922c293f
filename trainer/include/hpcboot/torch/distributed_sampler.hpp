#pragma once

#include <cstdint>
#include <vector>

namespace hpcboot {

struct DistributedSamplerOptions {
  bool shuffle = true;
  std::uint64_t seed = 0;  ///< the same on every rank
  /// Drop the tail that cannot be divided evenly, instead of repeating the first samples.
  bool drop_last = false;
};

/// Selects this rank's samples of a data set, exactly as Python's
/// torch.utils.data.distributed.DistributedSampler does: a permutation seeded with seed + epoch and
/// padded by repeating its beginning, of which rank r takes the positions r, r + world_size,
/// r + 2 world_size, … Together, batch i of all ranks is batch i of one process with the global
/// batch size.
///
/// (LibTorch's torch::data::samplers::DistributedRandomSampler assigns blocks instead.)
class DistributedSampler {
 public:
  /// @throws Error{inconsistent_placement} unless 0 <= rank < world_size and dataset_size >= 0
  DistributedSampler(std::int64_t dataset_size, int world_size, int rank,
                     DistributedSamplerOptions options = {});

  /// This rank's samples in training order: size() indices in [0, dataset_size).
  std::vector<std::int64_t> indices(std::uint64_t epoch) const;

  /// Samples per rank and epoch; the same on all ranks.
  std::int64_t size() const { return samples_per_rank_; }

 private:
  std::int64_t dataset_size_;
  std::int64_t world_size_;
  std::int64_t rank_;
  DistributedSamplerOptions options_;
  std::int64_t samples_per_rank_;
};

}  // namespace hpcboot
