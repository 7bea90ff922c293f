#include "loop/host_load.hpp"

#include <gmock/gmock.h>

namespace hpcboot::train {
namespace {

using record::HostRecord;
using testing::ElementsAre;
using testing::IsEmpty;

HostLook look(const std::string& host, double load, int running, int threads = 1) {
  HostLook one;
  one.host = host;
  one.processors = 4;
  one.load = load;
  one.running = running;
  one.busy_seconds = 1000;
  one.threads = threads;
  return one;
}

/// `first`, some seconds later.
HostLook later(HostLook first, double seconds, double busy, double own) {
  first.time += seconds;
  *first.busy_seconds += busy;
  first.own_seconds += own;
  return first;
}

TEST(HostLoad, OneLineAHostNamesLoadAndProcessors) {
  const auto hosts = hosts_at_start(
      {look("n1", 0.1, 2), look("n1", 0.1, 2), look("n2", 14.2, 18), look("n2", 14.2, 18)});
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].host, "n1");
  EXPECT_FALSE(hosts[0].busy);
  EXPECT_EQ(hosts[0].others_at_start, 0);
  EXPECT_EQ(hosts[1].load_at_start, 14.2);
  EXPECT_EQ(hosts[1].others_at_start, 16);  // less the run's own two
  EXPECT_THAT(busy_at_start(hosts),
              ElementsAre("host n2 was busy at the start: load 14.2 on 4 processors"));
}

TEST(HostLoad, AnEarlierRunThatHasEndedDoesNotCount) {
  EXPECT_FALSE(hosts_at_start({look("n1", 14.2, 1)}).front().busy);
}

TEST(HostLoad, ABurstDoesNotCount) {
  EXPECT_FALSE(hosts_at_start({look("n1", 0.3, 16)}).front().busy);
}

TEST(HostLoad, WhatLeavesTheRunItsProcessorsIsNotBusy) {
  EXPECT_FALSE(hosts_at_start({look("n1", 2, 3, 2)}).front().busy);
  EXPECT_TRUE(hosts_at_start({look("n1", 2, 3, 4)}).front().busy);
  // The run's own excess of threads does not count as busy either.
  EXPECT_FALSE(hosts_at_start({look("n1", 0.5, 1, 64)}).front().busy);
}

TEST(HostLoad, TheEndTellsOthersFromTheRunsOwnThreads) {
  const std::vector<HostLook> first{look("n1", 0, 1, 2), look("n2", 0, 1, 2), look("n1", 0, 1, 2)};
  const std::vector<HostLook> last{later(first[0], 100, 390, 190), later(first[1], 100, 390, 190),
                                   later(first[2], 100, 390, 190)};
  auto hosts = hosts_at_start(first);
  const auto before = hosts;
  add_end(hosts, first, last);
  EXPECT_DOUBLE_EQ(*hosts[0].others, 0.1);
  EXPECT_FALSE(hosts[0].busy);
  // Beside one rank with two threads, two more busy processors are acceptable.
  EXPECT_DOUBLE_EQ(*hosts[1].others, 2.0);
  EXPECT_FALSE(hosts[1].busy);

  std::vector<HostLook> taken = last;
  for (HostLook& one : taken) one.own_seconds -= 100;
  hosts = before;
  add_end(hosts, first, taken);
  EXPECT_THAT(busy_since(hosts, before),
              ElementsAre("host n1 was busy: other programs took 2.1 of its 4 processors",
                          "host n2 was busy: other programs took 3.0 of its 4 processors"));
  EXPECT_THAT(busy_since(hosts, hosts), IsEmpty());  // said once
}

TEST(HostLoad, AFewSecondsTellNothingOfOthers) {
  const std::vector<HostLook> first{look("n1", 0, 1, 4)};
  auto hosts = hosts_at_start(first);
  add_end(hosts, first, {later(first[0], 2, 8, 0)});
  EXPECT_EQ(hosts[0].others, std::nullopt);
  EXPECT_EQ(hosts[0].load_at_end, 0);
}

TEST(HostLoad, WhatProcDoesNotTellIsUnknown) {
  HostLook bare;
  bare.host = "n1";
  auto hosts = hosts_at_start({bare});
  add_end(hosts, {bare}, {bare});
  EXPECT_EQ(hosts[0].load_at_start, std::nullopt);
  EXPECT_EQ(hosts[0].others_at_start, std::nullopt);
  EXPECT_FALSE(hosts[0].busy);
}

TEST(HostLoad, OfManyBusyHostsAFewAreNamed) {
  std::vector<HostLook> looks;
  for (int i = 0; i < 9; ++i) looks.push_back(look("n" + std::to_string(i), 9, 9));
  const auto lines = busy_at_start(hosts_at_start(looks));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines.back(), "and 5 more hosts, see `hosts` in run.json");
}

TEST(HostLoad, ALookTravelsAsJson) {
  const HostLook one = later(look("n1", 1.5, 3, 2), 1.25, 2.5, 0.5);
  EXPECT_EQ(to_json(host_look_from_json(to_json(one), "a look")), to_json(one));
}

TEST(HostLoad, ThisHostAndThisProcessAreMeasured) {
  const HostLook before = look_at_host("here", 1);
  EXPECT_GE(before.processors, 1);
  ASSERT_TRUE(before.load);
  EXPECT_GE(before.running, 1);
  ASSERT_TRUE(before.busy_seconds);
  while (look_at_host("here", 1).own_seconds < before.own_seconds + 0.2) {
  }
  const HostLook after = look_at_host("here", 1);
  EXPECT_GT(after.time, before.time);
  // The kernel counts in ticks; this process is included.
  EXPECT_GT(*after.busy_seconds, *before.busy_seconds);
}

}  // namespace
}  // namespace hpcboot::train
