// How often trainer bench runs an operation that it measures.
#include "machine/stopwatch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace hpcboot::machine {
namespace {

TEST(Stopwatch, AnOperationLongerThanItsTimeRunsFiveTimesInAll) {
  int runs = 0;
  const Timing timing = Stopwatch(torch::kCPU, 1e-3).measure([&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  EXPECT_EQ(timing.samples, 3);
  EXPECT_EQ(runs, 2 + 3);
  EXPECT_GE(timing.low, 2e-3);
}

}  // namespace
}  // namespace hpcboot::machine
