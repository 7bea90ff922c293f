// Ranks that wait for each other, and decide together.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "loop/agreement.hpp"
#include "loop/communicator.hpp"
#include "support/thread_ranks.hpp"

namespace hpcboot::train {
namespace {

TEST(Communicator, WaitsForTheSlowestRankBeyondTheCollectiveTimeout) {
  std::atomic<bool> is_done{false};
  const auto thrown = testing_support::run_ranks({0, 1}, 2, [&](const Resolution& me) {
    ProcessGroupOptions options;
    options.collective_timeout = std::chrono::seconds(3);
    Communicator ranks(me, make_process_group(me, Env(), options));
    const auto begin = std::chrono::steady_clock::now();
    ranks.wait_until_all([&](std::chrono::milliseconds limit) {
      if (me.placement.rank == 0) return true;
      std::this_thread::sleep_for(limit);
      is_done = std::chrono::steady_clock::now() - begin > std::chrono::seconds(5);
      return is_done.load();
    });
    EXPECT_TRUE(is_done);
    ranks.finish();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

TEST(Agreement, BringsEveryRankToTheSameDecisionAtTheSameStep) {
  constexpr int kRanks = 3;
  constexpr int kSteps = 200;
  std::vector<int> stopped_at(kRanks, -1);
  std::vector<int> saved_at(kRanks, -1);
  std::vector<int> signals(kRanks, 0);
  const auto thrown = testing_support::run_ranks({0, 1, 2}, kRanks, [&](const Resolution& me) {
    const auto rank = static_cast<std::size_t>(me.placement.rank);
    Communicator communicator(me, make_process_group(me, Env()));
    Agreement agreement(communicator);
    for (int step = 1; step <= kSteps; ++step) {
      StopFlags own;
      // The signals arrive at different steps; only the clock of rank 0 counts.
      if (rank > 0 && step > 20 * static_cast<int>(rank)) own.signal = SIGUSR1;
      own.checkpoint = rank == 0 ? step > 5 && saved_at[0] < 0 : true;
      const StopFlags all = agreement.ask(own, rank == 0 ? 0.1 : 0.3, step == kSteps);
      if (all.checkpoint && saved_at[rank] < 0) saved_at[rank] = step;
      if (all.stop()) {
        stopped_at[rank] = step;
        signals[rank] = all.signal;
        break;
      }
    }
    communicator.finish();
  });
  for (const auto& failure : thrown) EXPECT_FALSE(failure);
  EXPECT_EQ(stopped_at, std::vector<int>(kRanks, stopped_at[0]));
  EXPECT_EQ(saved_at, std::vector<int>(kRanks, saved_at[0]));
  EXPECT_EQ(signals, std::vector<int>(kRanks, SIGUSR1));
  // The ranks ask every fifth step of 0.1 s.
  EXPECT_GT(stopped_at[0], 20);
  EXPECT_LE(stopped_at[0], 26);
  EXPECT_LE(saved_at[0], 11);
}

}  // namespace
}  // namespace hpcboot::train
