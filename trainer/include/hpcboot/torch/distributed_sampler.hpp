#pragma once

#include <cstdint>
#include <vector>

namespace hpcboot {

struct DistributedSamplerOptions {
  bool shuffle = true;
  std::uint64_t seed = 0;  ///< the same on every rank
  /// Leave out the tail that the ranks do not divide, instead of repeating the first samples.
  bool drop_last = false;
};

/// Which samples of a data set are this rank's, the very ones that Python's
/// torch.utils.data.distributed.DistributedSampler gives: a permutation by seed + epoch, padded by
/// repeating its beginning, of which rank r takes r, r + world_size, r + 2 world_size, … So the
/// ranks' batches number i make up batch i of one process with the global batch size.
///
/// (torch::data::samplers::DistributedRandomSampler of LibTorch hands out blocks instead.)
class DistributedSampler {
 public:
  /// @throws Error{inconsistent_placement} unless 0 <= rank < world_size and dataset_size >= 0
  DistributedSampler(std::int64_t dataset_size, int world_size, int rank,
                     DistributedSamplerOptions options = {});

  /// This rank's samples in the order of training; size() numbers in [0, dataset_size).
  std::vector<std::int64_t> indices(std::uint64_t epoch) const;

  /// How many samples each rank has in an epoch, the same for all.
  std::int64_t size() const { return samples_per_rank_; }

 private:
  std::int64_t dataset_size_;
  std::int64_t world_size_;
  std::int64_t rank_;
  DistributedSamplerOptions options_;
  std::int64_t samples_per_rank_;
};

}  // namespace hpcboot
