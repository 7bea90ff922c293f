#include "hpcboot/torch/distributed_sampler.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <vector>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

using Indices = std::vector<std::int64_t>;

struct Case {
  std::int64_t dataset_size;
  int world_size;
  std::uint64_t seed;
  std::uint64_t epoch;
  bool shuffle;
  bool drop_last;
  std::vector<Indices> by_rank;
};

// Printed by torch.utils.data.distributed.DistributedSampler of PyTorch 1.13.1.
const Case kCases[] = {
    {10, 3, 0, 0, true, false, {{4, 5, 0, 2}, {1, 3, 8, 4}, {7, 9, 6, 1}}},
    {10, 3, 0, 1, true, false, {{5, 2, 9, 4}, {6, 0, 3, 5}, {1, 8, 7, 6}}},
    {10, 3, 1234, 5, true, true, {{9, 1, 0}, {4, 2, 8}, {5, 6, 3}}},
    {2, 5, 7, 0, true, false, {{1}, {0}, {1}, {0}, {1}}},
    {10, 4, 0, 0, false, false, {{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}}},
    {10, 4, 0, 0, false, true, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
    {3, 8, 0, 0, false, true, {{}, {}, {}, {}, {}, {}, {}, {}}},
};

TEST(DistributedSampler, GivesTheIndicesOfPyTorch) {
  for (const Case& c : kCases) {
    for (int rank = 0; rank < c.world_size; ++rank) {
      SCOPED_TRACE(testing::Message() << c.dataset_size << " samples, rank " << rank << " of "
                                      << c.world_size << ", seed " << c.seed);
      const DistributedSampler sampler(c.dataset_size, c.world_size, rank,
                                       {c.shuffle, c.seed, c.drop_last});
      const Indices& expected = c.by_rank[static_cast<std::size_t>(rank)];
      EXPECT_EQ(sampler.indices(c.epoch), expected);
      EXPECT_EQ(sampler.size(), static_cast<std::int64_t>(expected.size()));
    }
  }
}

TEST(DistributedSampler, RanksTogetherMakeTheGlobalBatchesOfOneProcess) {
  constexpr std::int64_t kSamples = 64;
  constexpr std::int64_t kGlobalBatch = 16;
  const Indices single = DistributedSampler(kSamples, 1, 0).indices(3);
  for (const int world_size : {2, 4}) {
    const std::int64_t local_batch = kGlobalBatch / world_size;
    for (std::int64_t batch = 0; batch < kSamples / kGlobalBatch; ++batch) {
      const auto global = single.begin() + batch * kGlobalBatch;
      std::set<std::int64_t> together;
      for (int rank = 0; rank < world_size; ++rank) {
        const Indices mine = DistributedSampler(kSamples, world_size, rank).indices(3);
        const auto local = mine.begin() + batch * local_batch;
        together.insert(local, local + local_batch);
      }
      EXPECT_EQ(together, std::set<std::int64_t>(global, global + kGlobalBatch));
    }
  }
}

TEST(DistributedSampler, RefusesARankOutsideTheWorld) {
  for (const auto& [samples, world_size, rank] :
       {std::tuple{10, 2, 2}, std::tuple{10, 2, -1}, std::tuple{10, 0, 0}, std::tuple{-1, 1, 0}}) {
    try {
      const DistributedSampler sampler(samples, world_size, rank);
      FAIL() << samples << " samples, rank " << rank << " of " << world_size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement);
    }
  }
}

}  // namespace
}  // namespace hpcboot
