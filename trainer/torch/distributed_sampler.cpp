#include "hpcboot/torch/distributed_sampler.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot {

DistributedSampler::DistributedSampler(std::int64_t dataset_size, int world_size, int rank,
                                       DistributedSamplerOptions options)
    : dataset_size_(dataset_size), world_size_(world_size), rank_(rank), options_(options) {
  if (rank < 0 || rank >= world_size || dataset_size < 0) {
    throw Error(ErrorCode::inconsistent_placement,
                "a sampler for rank " + std::to_string(rank) + " of " + std::to_string(world_size) +
                    " over " + std::to_string(dataset_size) + " samples",
                "0 <= rank < world_size and at least 0 samples",
                "pass rank and world_size of the process group");
  }
  samples_per_rank_ = options_.drop_last ? dataset_size_ / world_size_
                                         : (dataset_size_ + world_size_ - 1) / world_size_;
}

std::vector<std::int64_t> DistributedSampler::indices(std::uint64_t epoch) const {
  // PyTorch's CPU generator yields the same permutation here as in Python.
  at::Tensor order;
  if (options_.shuffle) {
    const at::Generator generator = at::detail::createCPUGenerator(options_.seed + epoch);
    order = at::randperm(dataset_size_, generator, at::kLong);
  } else {
    order = at::arange(dataset_size_, at::kLong);
  }
  const std::int64_t* const sample = order.data_ptr<std::int64_t>();

  std::vector<std::int64_t> mine;
  mine.reserve(static_cast<std::size_t>(samples_per_rank_));
  for (std::int64_t i = 0; i < samples_per_rank_; ++i) {
    // Positions beyond the data set are padding: they repeat the permutation from its beginning.
    mine.push_back(sample[(rank_ + i * world_size_) % dataset_size_]);
  }
  return mine;
}

}  // namespace hpcboot
