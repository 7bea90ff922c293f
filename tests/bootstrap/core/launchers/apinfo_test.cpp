#include "core/launchers/apinfo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/apinfo_file.hpp"
#include "support/expect_error.hpp"

// The PALS table: both versions are read, and damage is neither accepted nor causes a crash.
namespace hpcboot {
namespace {

using test::apinfo_file;
using test::expect_error;
using testing::ElementsAre;

const std::vector<std::string> kHosts = {"x1000c0s0b0n0", "x1000c0s0b0n1"};

TEST(Apinfo, BothVersionsAreRead) {
  for (const int version : {1, 5}) {
    const Apinfo apinfo = parse_apinfo(apinfo_file(version, kHosts, {0, 1, 0, 0}), "apinfo");
    EXPECT_EQ(apinfo.version, version);
    EXPECT_THAT(apinfo.hosts, ElementsAre(kHosts[0], kHosts[1]));
    EXPECT_THAT(apinfo.local_sizes, ElementsAre(3, 1));
    ASSERT_EQ(apinfo.processes.size(), 4U);
    EXPECT_EQ(apinfo.processes[1].node, 1);
    EXPECT_EQ(apinfo.processes[1].local_rank, 0);
    EXPECT_EQ(apinfo.processes[3].node, 0);
    EXPECT_EQ(apinfo.processes[3].local_rank, 2);
  }
}

TEST(Apinfo, AHostNameMayFillItsField) {
  const std::string longest(64, 'n');
  EXPECT_EQ(parse_apinfo(apinfo_file(5, {longest}, {0}), "apinfo").hosts[0], longest);
}

// Version 5 ends with sections that this library does not need; a later writer may add more.
TEST(Apinfo, WhatFollowsTheTablesIsLeftAlone) {
  EXPECT_EQ(parse_apinfo(apinfo_file(5, kHosts, {0, 1}) + "more", "apinfo").processes.size(), 2U);
}

TEST(Apinfo, EveryTruncationIsAnError) {
  for (const int version : {1, 5}) {
    const std::string whole = apinfo_file(version, kHosts, {0, 1, 0, 1});
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_error(
          ErrorCode::malformed_file,
          [&] { parse_apinfo(whole.substr(0, length), "/spool/apinfo"); }, "/spool/apinfo",
          "PALS_APINFO");
    }
  }
}

TEST(Apinfo, WhatIsWrongIsNamed) {
  const std::string whole = apinfo_file(1, kHosts, {0, 1});
  const auto with = [&](std::size_t offset, const std::string& bytes) {
    std::string damaged = whole;
    damaged.replace(offset, bytes.size(), bytes);
    return [damaged] { parse_apinfo(damaged, "f"); };
  };
  const std::string huge(8, '\x7f');
  expect_error(ErrorCode::malformed_file, with(0, "\x02"), "version 2");
  expect_error(ErrorCode::malformed_file, with(8, huge), "bytes");
  expect_error(ErrorCode::malformed_file, with(8, std::string("\x87\0", 2)), "declares 135 bytes");
  expect_error(ErrorCode::malformed_file, with(8, std::string("\x88\0", 2)), "table of nodes");
  expect_error(ErrorCode::malformed_file, with(64, std::string(8, '\0')), "table of processes");
  expect_error(ErrorCode::malformed_file, with(72, huge), "table of processes");
  expect_error(ErrorCode::malformed_file, with(80, std::string(4, '\xff')), "table of processes");
  expect_error(ErrorCode::malformed_file, with(88, huge), "table of nodes");
  expect_error(ErrorCode::malformed_file, with(104, std::string(4, '\0')), "table of nodes");
  const std::size_t pes = 136 + 12;
  expect_error(ErrorCode::malformed_file, with(pes, "\x01"), "process 0 has local rank 1");
  expect_error(ErrorCode::malformed_file, with(pes + 8, "\x02"), "process 0 is on node 2");
  expect_error(ErrorCode::malformed_file, with(pes + 8, std::string(4, '\xff')), "node -1");
  expect_error(ErrorCode::malformed_file, with(pes + 8, "\x01"), "local rank 0");
  expect_error(ErrorCode::malformed_file, with(pes + 24 + 4, std::string(1, '\0')),
               "node 0 has no valid host name");
}

// Random bytes written over a valid file: an error, or a self-consistent table.
TEST(Apinfo, DamageNeverCrashesAndNeverGivesAnInconsistentTable) {
  std::mt19937 random(20261120);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = apinfo_file(round % 2 == 0 ? 1 : 5, kHosts, {0, 1, 1, 0});
    for (unsigned i = 0; i <= random() % 4; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      const Apinfo apinfo = parse_apinfo(bytes, "f");
      std::vector<int> sizes(apinfo.hosts.size(), 0);
      for (const auto& process : apinfo.processes)
        ++sizes.at(static_cast<std::size_t>(process.node));
      ASSERT_EQ(sizes, apinfo.local_sizes);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::malformed_file);
    }
  }
}

}  // namespace
}  // namespace hpcboot
