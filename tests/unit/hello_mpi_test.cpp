#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hello_mpi/measure.hpp"

// Between which ranks does hello_mpi measure?
namespace hello {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(PairsToMeasure, FirstRanksOfHosts) {
  EXPECT_THAT(pairs_to_measure({0, 0, 2, 2, 4}), ElementsAre(Pair(0, 2), Pair(0, 4), Pair(2, 4)));
}

TEST(PairsToMeasure, RanksLaidOutInTurns) {
  EXPECT_THAT(pairs_to_measure({0, 1, 0, 1}), ElementsAre(Pair(0, 1)));
}

TEST(PairsToMeasure, OneHost) {
  EXPECT_THAT(pairs_to_measure({0}), IsEmpty());
  EXPECT_THAT(pairs_to_measure({0, 0, 0}), ElementsAre(Pair(0, 1)));
}

TEST(PairsToMeasure, AllPairsOf32HostsAndARingOf33) {
  std::vector<int> hosts;
  for (int host = 0; host < 32; ++host) hosts.push_back(host);
  EXPECT_EQ(pairs_to_measure(hosts).size(), 32u * 31u / 2u);
  hosts.push_back(32);
  const auto ring = pairs_to_measure(hosts);
  ASSERT_EQ(ring.size(), 33u);
  EXPECT_THAT(ring.front(), Pair(0, 1));
  EXPECT_THAT(ring.back(), Pair(32, 0));
}

}  // namespace
}  // namespace hello
