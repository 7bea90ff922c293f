#include "jobs/run/agents/stacks_of_ranks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hpcboot::run {
namespace {

TEST(StacksOfRanks, AreAskedForAtOnceAndForgottenWithTheirRank) {
  StacksOfRanks stacks({});
  EXPECT_TRUE(stacks.are_done());
  EXPECT_EQ(stacks.next_time(), Clock::time_point::max());
  const auto ignored = [](std::string_view) {};
  stacks.add(1, getpid(), ignored);
  stacks.add(2, getpid(), ignored);
  EXPECT_FALSE(stacks.are_done());
  const auto next = stacks.next_time();
  EXPECT_LE(next, Clock::now());
  stacks.forget(1);
  EXPECT_FALSE(stacks.are_done());
  stacks.forget(2);
  EXPECT_TRUE(stacks.are_done());
  EXPECT_EQ(stacks.next_time(), Clock::time_point::max());
}

}  // namespace
}  // namespace hpcboot::run
