// What a resumed run must have in common with its first start.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpcboot/torch/distributed_sampler.hpp"
#include "loop/run_identity.hpp"

namespace hpcboot::train {
namespace {

TEST(RunIdentity, NamesWhatDiffers) {
  const Json a = {{"lr", 0.1}, {"model", "mnistnet"}, {"batch_size", 32}};
  Json b = a;
  EXPECT_TRUE(differences(a, b).empty());
  b["lr"] = 0.2;
  b["batch_size"] = 64;
  b["sync_bn"] = true;
  EXPECT_EQ(differences(a, b),
            (std::vector<std::string>{"--batch-size is 32, but 64 in the run",
                                      "--lr is 0.1, but 0.2 in the run",
                                      "--sync-bn is not set, but true in the run"}));
  Json labels = a;
  labels["labels"] = "12345678; 9abcdef0";
  EXPECT_TRUE(differences(labels, a).empty()) << "older versions did not record it";
  Json changed = labels;
  changed["labels"] = "12345679; 9abcdef0";
  EXPECT_EQ(differences(labels, changed),
            std::vector<std::string>{"the labels' checksum is 12345678; 9abcdef0, but 12345679; "
                                     "9abcdef0 in the run"});
  // Older versions did not record it.
  Json passes = a;
  passes["micro_batch"] = "8";
  EXPECT_TRUE(differences(passes, a).empty());
  EXPECT_EQ(differences(a, passes),
            std::vector<std::string>{"--micro-batch is not set, but 8 in the run"});
  // Identities leave out first values of later options.
  EXPECT_EQ(differences(a, {{"lr", 0.1},
                            {"model", "mnistnet"},
                            {"batch_size", 32},
                            {"task", "cifar"},
                            {"augment", "crop-flip"}}),
            (std::vector<std::string>{"--augment is none, but crop-flip in the run",
                                      "--task is mnist, but cifar in the run"}));
}

// EpochTrainer relies on this: a step of a global batch takes the same samples on any number of
// ranks.
TEST(Resuming, OnOtherRanksLeavesOutNoSampleAndRepeatsNone) {
  constexpr std::int64_t kSamples = 100;
  constexpr std::int64_t kBatch = 12;
  const auto samples = [](int ranks, std::int64_t from_step, std::int64_t to_step) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto own = DistributedSampler(kSamples, ranks, rank, {true, 5}).indices(3);
      const std::int64_t local = kBatch / ranks;
      for (std::int64_t i = from_step * local;
           i < std::min<std::int64_t>(to_step * local, static_cast<std::int64_t>(own.size()));
           ++i) {
        all.push_back(own[static_cast<std::size_t>(i)]);
      }
    }
    return all;
  };
  for (const auto& [before, after] : {std::pair{1, 2}, {2, 1}, {4, 3}, {3, 4}, {1, 12}}) {
    for (std::int64_t step = 0; step <= 9; ++step) {
      std::vector<std::int64_t> seen = samples(before, 0, step);
      const std::vector<std::int64_t> rest = samples(after, step, 9);
      seen.insert(seen.end(), rest.begin(), rest.end());
      const std::set<std::int64_t> distinct(seen.begin(), seen.end());
      EXPECT_EQ(distinct.size(), static_cast<std::size_t>(kSamples));
      // Any excess is at most the padding of the ranks that end the epoch.
      EXPECT_LT(seen.size() - distinct.size(), static_cast<std::size_t>(std::max(before, after)));
    }
  }
}

}  // namespace
}  // namespace hpcboot::train
