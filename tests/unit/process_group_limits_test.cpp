// Groups of very many ranks, and the limits on what a group waits for.
#include <gmock/gmock.h>
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "process_group_impl.hpp"
#include "support/expect_error.hpp"
#include "support/thread_ranks.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::HasSubstr;
using testing_support::run_ranks;

/// A group without peers, which records how long a barrier may take.
class PretendedGroup : public c10d::ProcessGroup {
 public:
  explicit PretendedGroup(int size) : c10d::ProcessGroup(0, size) {}
#if TORCH_VERSION_MAJOR < 2
  const std::string getBackendName() const override {
    return "pretended";
  }
#endif
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& /*options*/) override {
    return c10::make_intrusive<Done>(limit_);
  }
  milliseconds limit() const {
    return *limit_;
  }

 private:
  class Done : public c10d::Work {
   public:
    explicit Done(std::shared_ptr<milliseconds> limit) : limit_(std::move(limit)) {}
    bool wait(milliseconds limit) override {
      *limit_ = limit;
      return true;
    }

   private:
    std::shared_ptr<milliseconds> limit_;
  };

  std::shared_ptr<milliseconds> limit_ = std::make_shared<milliseconds>(0);
};

/// Ends with the first key that a rank sets.
class KeyStore : public c10d::HashStore {
 public:
  void set(const std::string& key, const std::vector<std::uint8_t>& /*value*/) override {
    key_ = key;
    throw std::runtime_error("the end");
  }
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// The key that the first rank of the subgroup sets in a group of 100,000 ranks.
std::string key_in_subgroup(const std::vector<int>& ranks, const std::string& named) {
  const auto store = c10::make_intrusive<KeyStore>();
  ProcessGroup group =
      adopt_process_group(c10::make_intrusive<PretendedGroup>(100000), store, "lo");
  test::expect_error(
      ErrorCode::peer_lost, [&] { group.subgroup(ranks); },
      "counted in the subgroup of " + named + " of the launch");
  return store->key();
}

TEST(Subgroups, OfAHundredThousandRanksHaveShortKeysAndNames) {
  const std::string key = key_in_subgroup(first_ranks(100000), "ranks 0-99999");
  EXPECT_LT(key.size(), 100U);
  std::vector<int> others = first_ranks(100000);
  std::swap(others[1], others[2]);
  EXPECT_NE(key_in_subgroup(others, "ranks 0, 2, 1, 3-99999"), key);
  EXPECT_EQ(key_in_subgroup(first_ranks(100000), "ranks 0-99999"), key);
}

TEST(NamesOf, ConsecutiveRanksAreJoinedAndTheRestIsCounted) {
  EXPECT_EQ(names_of({3}), "rank 3");
  EXPECT_EQ(names_of({3, 4}), "ranks 3, 4");
  EXPECT_EQ(names_of({1, 3, 4, 5, 9}), "ranks 1, 3-5, 9");
  EXPECT_EQ(names_of({5, 4, 3}), "ranks 5, 4, 3");
  std::vector<int> even;
  for (int rank = 0; rank < 2000; rank += 2) even.push_back(rank);
  EXPECT_EQ(names_of(even),
            "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 and 984 more");
}

TEST(Barrier, WithoutADeadlineWaitsForTheCollectiveTimeout) {
  const auto pretended = c10::make_intrusive<PretendedGroup>(1);
  for (const minutes timeout : {minutes(45), minutes(2)}) {
    ProcessGroupOptions options;
    options.collective_timeout = timeout;
    ProcessGroup group = make_process_group(Resolution{}, Env(), options);
    ProcessGroupAccess::impl_of(group).group = pretended;
    group.barrier();
    EXPECT_EQ(pretended->limit(), timeout);
    group.barrier(minutes(1));
    EXPECT_EQ(pretended->limit(), minutes(1));
    group.barrier(minutes(90));
    EXPECT_EQ(pretended->limit(), timeout);
  }
  ProcessGroup adopted = adopt_process_group(pretended);
  adopted.barrier();
  EXPECT_EQ(pretended->limit(), minutes(30));
  adopted.barrier(minutes(90));
  EXPECT_EQ(pretended->limit(), minutes(90));
}

TEST(ProcessGroup, TheLongestTimesAreWaitedFor) {
  constexpr milliseconds kLongest = milliseconds::max();
  for (const StoreKind store : {StoreKind::own, StoreKind::tcp}) {
    const auto thrown = run_ranks({0, 1}, 2, [&](const Resolution& resolution) {
      ProcessGroupOptions options;
      options.store = store;
      options.start_up_deadline = kLongest;
      options.collective_timeout = kLongest;
      ProcessGroup group = make_process_group(resolution, Env(), options);
      torch::Tensor tensor = torch::ones({1});
      all_reduce(group, tensor).wait(kLongest);
      EXPECT_EQ(tensor.item<double>(), 2);
      if (group.rank() == 0) send(group, tensor + 1, 1).wait(kLongest);
      if (group.rank() == 1) recv(group, tensor, 0).wait(kLongest);
      EXPECT_EQ(tensor.item<double>(), group.rank() == 0 ? 2 : 3);
      group.barrier(kLongest);
      std::optional<ProcessGroup> pair = group.subgroup({1, 0});
      pair->barrier();
      EXPECT_TRUE(pair->absent_ranks(kLongest).empty());
      EXPECT_EQ(pair->first_account([] { return std::string("seen"); }, kLongest), "seen");
      pair->shutdown();
      group.shutdown();
    });
    for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
  }
}

}  // namespace
}  // namespace hpcboot
