#include "cli/check_allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpcboot::tool {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Hosts = std::vector<std::string>;

Allocation job_of(std::vector<std::string> hosts, std::vector<int> slots = {}) {
  Allocation job;
  job.hosts = std::move(hosts);
  job.slots = std::move(slots);
  return job;
}

TEST(CheckAllocation, AHostWithoutARankIsNamed) {
  const auto idle = idle_hosts(Hosts({"n1", "n1.cluster"}), job_of({"n1", "n2"}));
  ASSERT_THAT(idle, SizeIs(1));
  EXPECT_THAT(
      idle[0].text,
      HasSubstr("no rank arrived from n2: the job has 2 hosts, and 2 ranks arrived from 1"));
  EXPECT_THAT(idle_hosts(Hosts({"n1", "n2.cluster"}), job_of({"n1", "n2"})), IsEmpty());
  EXPECT_THAT(idle_hosts(Hosts({"n1"}), job_of({})), IsEmpty());
}

TEST(CheckAllocation, ManyAreCounted) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 100; ++i) hosts.push_back("n" + std::to_string(i));
  EXPECT_THAT(idle_hosts(Hosts({"n0"}), job_of(hosts)).at(0).text,
              HasSubstr("n1, n2, n3, n4, n5, n6, n7, n8 and 91 more"));
}

// The scheduler may know the hosts by their names on another network.
TEST(CheckAllocation, NamesOfAnotherNetworkSayNothing) {
  EXPECT_THAT(idle_hosts(Hosts({"x1", "x2"}), job_of({"n1-mgmt", "n2-mgmt"})), IsEmpty());
}

TEST(CheckAllocation, MoreRanksThanSlotsAreTold) {
  const auto crowded = crowded_hosts(Hosts({"n1", "n1", "n1", "n2"}), job_of({"n1", "n2"}, {2, 1}));
  ASSERT_THAT(crowded, SizeIs(1));
  EXPECT_EQ(crowded[0].text, "host n1 is oversubscribed: 3 ranks, 2 slots");
  EXPECT_THAT(crowded_hosts(Hosts({"n1", "n1"}), job_of({"n1"})), IsEmpty());
}

}  // namespace
}  // namespace hpcboot::tool
