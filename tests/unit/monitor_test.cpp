// What the monitor makes of the kernel's counters, and of the ranks' reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "hpcboot/error.hpp"
#include "monitor/gpu_sensors.hpp"
#include "monitor/host_counters.hpp"
#include "monitor/monitor_row.hpp"
#include "monitor/sampler.hpp"
#include "monitor/stragglers.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::monitor {
namespace {

using test::write_text;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

/// A host with two disks, one of them partitioned and in a RAID, a bond of two interfaces and an
/// InfiniBand adapter.
void make_host(const std::filesystem::path& root) {
  write_text(root / "proc/stat", "cpu  100 20 30 800 50 0 10 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  write_text(root / "proc/self/statm", "5000 2000 300 10 0 400 0\n");
  write_text(root / "proc/net/dev",
             "Inter-|   Receive                                                |  Transmit\n"
             " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets "
             "errs drop fifo colls carrier compressed\n"
             "    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
             " bond0:1000 1 0 0 0 0 0 0 300 1 0 0 0 0 0 0\n"
             "  eth0: 600 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
             "  eth1: 400 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n");
  write_text(root / "sys/class/net/eth0/master", "");
  write_text(root / "sys/class/net/eth1/master", "");
  write_text(root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "500\n");
  write_text(root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "700\n");
  write_text(root / "proc/diskstats",
             "   7       0 loop0 9 9 9 9 9 9 9 9 0 0 0\n"
             " 259       0 nvme0n1 10 0 4 1 20 0 6 1 0 0 0\n"
             " 259       1 nvme0n1p1 10 0 4 1 20 0 6 1 0 0 0\n"
             "   8       0 sda 10 0 10 1 20 0 20 1 0 0 0 0 0 0 0\n"
             "   9       0 md0 10 0 10 1 20 0 20 1 0 0 0\n");
  for (const char* disk : {"loop0", "nvme0n1", "sda", "md0"})
    std::filesystem::create_directories(root / "sys/block" / disk);
}

TEST(HostCounters, CountWhatIsThereOnce) {
  const test::TemporaryFolder root;
  make_host(root.path());
  const HostCounters counters = read_host_counters(root.path());
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_THAT(counters.total_seconds, Optional(1010 / tick));
  EXPECT_THAT(counters.busy_seconds, Optional(160 / tick));
  EXPECT_THAT(counters.resident_bytes, Optional(2000.0 * ::getpagesize()));
  EXPECT_THAT(counters.received_bytes, Optional(1000.0 + 4 * 500));
  EXPECT_THAT(counters.sent_bytes, Optional(300.0 + 4 * 700));
  EXPECT_THAT(counters.read_bytes, Optional(512.0 * 14));
  EXPECT_THAT(counters.written_bytes, Optional(512.0 * 26));
}

/// A line of /proc/net/dev.
std::string counted_interface(const std::string& name, int received) {
  const std::string number = std::to_string(received);
  return name + ": " + number + " 1 0 0 0 0 0 0 " + number + " 1 0 0 0 0 0 0\n";
}

TEST(HostCounters, AnInterfaceDoesNotCountOnAnother) {
  const test::TemporaryFolder root;
  const auto interfaces = root.path() / "sys/class/net";
  struct Interface {
    const char* name;
    const char* below;  ///< another interface
    const char* above;  ///< the bond or bridge that it belongs to
  };
  const Interface all[] = {
      {"eth0", nullptr, nullptr},    {"eth0.5", "eth0", "br0"},     {"br0", "eth0.5", nullptr},
      {"macvlan0", "eth0", nullptr}, {"eth1", nullptr, "bond0"},    {"bond0", "eth1", nullptr},
      {"bond0.7", "bond0", nullptr}, {"veth1", nullptr, "docker0"}, {"docker0", "veth1", nullptr},
      {"eth9.3", nullptr, nullptr},  // a VLAN of a container: its parent is the host's
  };
  std::string lines;
  int bytes = 1;
  for (const Interface& one : all) {
    lines += counted_interface(one.name, bytes);
    bytes *= 2;
    write_text(interfaces / one.name / "type", "1\n");
    if (one.below != nullptr)
      write_text(interfaces / one.name / (std::string("lower_") + one.below), "");
    if (one.above != nullptr) write_text(interfaces / one.name / "master", "");
  }
  write_text(root.path() / "proc/net/dev", lines);
  const HostCounters counters = read_host_counters(root.path());
  // eth0, bond0, docker0 and eth9.3
  EXPECT_THAT(counters.received_bytes, Optional(1.0 + 32 + 256 + 512));
  EXPECT_THAT(counters.sent_bytes, Optional(1.0 + 32 + 256 + 512));
}

TEST(HostCounters, IpOverInfiniBandIsAPartOfInfiniBand) {
  const test::TemporaryFolder root;
  write_text(root.path() / "proc/net/dev",
             counted_interface("ib0", 1000) + counted_interface("eth0", 1));
  write_text(root.path() / "sys/class/net/ib0/type", "32\n");
  write_text(root.path() / "sys/class/net/eth0/type", "1\n");
  EXPECT_THAT(read_host_counters(root.path()).received_bytes, Optional(1001.0))
      << "a virtual adapter has no counters";
  const auto port = root.path() / "sys/class/infiniband/mlx5_0/ports/1/counters";
  write_text(port / "port_rcv_data", "500\n");
  write_text(port / "port_xmit_data", "700\n");
  const HostCounters counters = read_host_counters(root.path());
  EXPECT_THAT(counters.received_bytes, Optional(1.0 + 4 * 500));
  EXPECT_THAT(counters.sent_bytes, Optional(1.0 + 4 * 700));
}

TEST(HostCounters, WhatTheKernelDoesNotTellIsEmpty) {
  const test::TemporaryFolder root;
  const HostCounters nothing = read_host_counters(root.path());
  EXPECT_FALSE(nothing.busy_seconds || nothing.total_seconds || nothing.resident_bytes ||
               nothing.received_bytes || nothing.read_bytes);
  for (const char* file : {"proc/stat", "proc/self/statm", "proc/net/dev", "proc/diskstats"})
    write_text(root.path() / file, "cpu x\neth0: 1 2\n\n:\n 8 0 sda 1\n");
  const HostCounters damaged = read_host_counters(root.path());
  EXPECT_FALSE(damaged.busy_seconds || damaged.resident_bytes || damaged.received_bytes ||
               damaged.read_bytes);
}

TEST(HostCounters, OfThisMachine) {
  const HostCounters counters = read_host_counters();
  EXPECT_GT(counters.total_seconds.value_or(0), 0);
  EXPECT_GT(counters.own_seconds.value_or(0), 0);
  EXPECT_GT(counters.resident_bytes.value_or(0), 1e6);
}

TEST(Rates, AreOfTheTimeBetween) {
  HostCounters last{10.0, 100.0, 5.0, 1.0, 1000.0, 2000.0, 0.0, 0.0};
  HostCounters now{11.5, 102.0, 8.0, 7.0, 3000.0, 2500.0, 0.0, 400.0};
  MonitorRow row;
  add_rates(row, last, now, 2);
  EXPECT_THAT(row.cpu_load_percent, Optional(75.0));
  EXPECT_THAT(row.rank_cpu_percent, Optional(150.0));
  EXPECT_THAT(row.resident_bytes, Optional(7.0));
  EXPECT_THAT(row.network_received_bytes_per_second, Optional(1000.0));
  EXPECT_THAT(row.network_sent_bytes_per_second, Optional(250.0));
  EXPECT_THAT(row.disk_written_bytes_per_second, Optional(200.0));
  EXPECT_FALSE(row.gpu_load_percent);
}

TEST(Rates, OfACounterThatStartedAgainIsZero) {
  MonitorRow row;
  add_rates(row, {1.0, 1.0, 1.0, 1.0, 9000.0, 1.0, 1.0, 1.0},
            {1.0, 1.0, 1.0, 1.0, 10.0, 1.0, {}, 1.0}, 1);
  EXPECT_THAT(row.network_received_bytes_per_second, Optional(0.0));
  EXPECT_FALSE(row.disk_read_bytes_per_second);
  EXPECT_FALSE(row.cpu_load_percent) << "no time has passed";
}

MonitorRow full_row() {
  MonitorRow row;
  row.seconds = 12.5;
  row.epoch = 2;
  row.epoch_seconds = 3.25;
  row.step = 40;
  row.rank = 7;
  row.host = "n1,\"x\"";
  row.device = "cuda:1";
  double value = 1;
  for (const MonitorColumn& column : kMonitorColumns) row.*column.value = value++;
  return row;
}

TEST(MonitorRow, IsALineWithAllColumns) {
  const std::string header = monitor_header();
  EXPECT_THAT(header, HasSubstr("seconds,epoch,epoch_seconds,step,rank,host,device,gpu_load"));
  EXPECT_EQ(monitor_line(full_row()),
            "12.500,2,3.250,40,7,\"n1,\"\"x\"\"\",cuda:1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n");
  MonitorRow empty;
  empty.gpu_power_watts = std::numeric_limits<double>::quiet_NaN();
  const std::string line = monitor_line(empty);
  EXPECT_EQ(std::count(line.begin(), line.end(), ','),
            std::count(header.begin(), header.end(), ','));
  EXPECT_EQ(line.find("nan"), std::string::npos);
}

TEST(MonitorRow, ALineTellsItsStep) {
  EXPECT_EQ(step_of_line(monitor_line(full_row())), 40);
  const auto none = std::numeric_limits<std::int64_t>::max();
  for (const char* line : {"", "1,2", "1,2,3", "1,2,3,4", "1,2,3,x,5", "a,b,c,d,e"})
    EXPECT_EQ(step_of_line(line), none) << line;
}

TEST(MonitorRow, EveryColumnIsDocumented) {
  const std::string page = test::read_text(test::source_file("runs/README.md"));
  for (const MonitorColumn& column : kMonitorColumns)
    EXPECT_THAT(page, HasSubstr("`" + std::string(column.name) + "`"));
}

TEST(MonitorRow, ReachesRankZeroUnchanged) {
  EXPECT_EQ(monitor_line(monitor_row_from_json(to_json(full_row()), "test")),
            monitor_line(full_row()));
  EXPECT_EQ(monitor_line(monitor_row_from_json(to_json({}), "test")), monitor_line({}));
  EXPECT_THROW(monitor_row_from_json(Json{{"rank", -1}}, "test"), Error);
  EXPECT_THROW(monitor_row_from_json(Json{{"gpu_load_percent", "x"}}, "test"), Error);
}

std::vector<std::string> look(Stragglers& stragglers, const std::vector<double>& own) {
  std::vector<std::string> notes;
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    MonitorRow row;
    row.rank = static_cast<int>(rank);
    row.host = "n" + std::to_string(rank);
    row.own_seconds = own[rank];
    for (std::string& note : stragglers.add(row)) notes.push_back(std::move(note));
  }
  return notes;
}

TEST(Stragglers, AreNamedOnceAfterTwoSlowLooks) {
  Stragglers stragglers(4);
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.9, 0.1}), IsEmpty()) << "the first steps";
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.1, 0.1}), IsEmpty());
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.13, 0.1}), IsEmpty()) << "once may be an accident";
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.13, 0.1}),
              ElementsAre("rank 2 on n2 is slow: it computes for 130.0 ms a step, the median of 4 "
                          "ranks is 100.0 ms"));
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.13, 0.1}), IsEmpty());
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.13, 0.1}), IsEmpty());
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.1, 0.1}), IsEmpty());
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.1, 0.1}),
              ElementsAre("rank 2 on n2 is no longer slow"));
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.13, 0.1}), IsEmpty());
  EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.1, 0.1}), IsEmpty());
}

TEST(Stragglers, ARankNearTheLimitIsNotNamedAgainAndAgain) {
  Stragglers stragglers(3);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.119}), IsEmpty());
  std::vector<std::string> notes;
  for (int i = 0; i < 20; ++i) {
    for (std::string& note : look(stragglers, {0.1, 0.1, i % 4 < 2 ? 0.121 : 0.115}))
      notes.push_back(std::move(note));
  }
  EXPECT_EQ(notes.size(), 1U);
}

TEST(Stragglers, OneOfTwoRanksCanBeNamed) {
  Stragglers stragglers(2);
  std::vector<std::string> notes;
  for (int i = 0; i < 4; ++i) {
    for (std::string& note : look(stragglers, {0.1, 0.15})) notes.push_back(std::move(note));
  }
  EXPECT_THAT(notes, ElementsAre(HasSubstr("rank 1 on n1 is slow")));
}

TEST(Stragglers, NobodyIsBeforeAllRanksHaveReported) {
  Stragglers stragglers(4);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(look(stragglers, {0.1, 0.1, 0.3}), IsEmpty());
  Stragglers alone(1);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(look(alone, {0.1}), IsEmpty());
}

TEST(GpuSensors, WithoutADriverSayWhy) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a driver";
  const Sampler sampler({0});
  EXPECT_THAT(sampler.problem(), HasSubstr("libnvidia-ml.so.1"));
  EXPECT_EQ(Sampler({}).problem(), "");
}

}  // namespace
}  // namespace hpcboot::monitor
