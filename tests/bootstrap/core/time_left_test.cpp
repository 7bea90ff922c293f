#include "core/time_left.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/bounded_call.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST(EndAfter, LongDeadlinesAreCutAndNegativeOnesHaveEnded) {
  const auto ends_within = [](milliseconds deadline, Clock::duration least, Clock::duration most) {
    const auto before = Clock::now();
    const auto end = end_after(deadline);
    return end >= before + least && end <= Clock::now() + most;
  };
  using std::chrono::hours;
  EXPECT_TRUE(ends_within(milliseconds(5000), milliseconds(5000), milliseconds(5000)));
  EXPECT_TRUE(ends_within(milliseconds::max(), hours(24 * 365 * 100), hours(24 * 365 * 100)));
  for (const milliseconds negative : {milliseconds(-1), milliseconds::min()})
    EXPECT_TRUE(ends_within(negative, milliseconds(0), milliseconds(0)));
}

TEST(BoundedCall, WaitsForTheLongestLimit) {
  EXPECT_TRUE(
      bounded_call([] { std::this_thread::sleep_for(milliseconds(50)); }, milliseconds::max()));
}

}  // namespace
}  // namespace hpcboot
