#include "jobs/run/launcher/lost_hosts.hpp"

#include <gtest/gtest.h>

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

TEST(LostHosts, AreAmongThoseNoRankOfWhichHasToldItsEnd) {
  EXPECT_EQ(silent_hosts({{"n1", 2, 2}, {"n2", 2, 0}, {"n3", 2, 1}, {"n4", 0, 0}}), Names{"n2"});
  EXPECT_EQ(silent_hosts({}), Names());
}

// This host, and a name that does not resolve, which proves nothing about the host.
TEST(LostHosts, AreNotThoseThatAnswer) {
  EXPECT_EQ(dead_hosts({"127.0.0.1", "localhost"}, 3s), Names());
  EXPECT_EQ(dead_hosts({"no-such-host.invalid"}, 3s), Names());
  EXPECT_EQ(dead_hosts({}, 3s), Names());
}

}  // namespace
}  // namespace hpcboot::run
