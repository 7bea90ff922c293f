#include "hpcboot/hostfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Hostfile, OpenMpisForm) {
  const Nodefile hosts = parse_hostfile(
      "# head\nn1 slots=4 max_slots=8\n\n  n2   slots = 2  # the old one\nn3\nn4 max-slots=2\r\n",
      "hosts");
  EXPECT_THAT(hosts.hosts, ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_THAT(hosts.slots, ElementsAre(4, 2, 1, 1));
}

TEST(Hostfile, OtherKeysOfOpenMpi) {
  const Nodefile hosts = parse_hostfile(
      "n1 cpu=4 cpu_max=8\nn2 count=2 sockets=1 cores_per_socket=8 port=2222\nn3 slots=3 "
      "slots-max=3\n",
      "hosts");
  EXPECT_THAT(hosts.slots, ElementsAre(4, 2, 3));
  for (const char* too_many :
       {"n1 cpu=4 slots_max=3", "n1 count=4 max-count=3", "n1 slots=4 max_cpu=3"}) {
    expect_error(
        ErrorCode::malformed_file, [&] { parse_hostfile(too_many, "hosts"); }, too_many);
  }
}

TEST(Hostfile, AKeyThatNoLauncherKnowsIsAnError) {
  for (const char* line :
       {"n1 slot=2", "n1 gpus=2", "n1 Slots=2", "n1 slots=2 ppn=2", "rank 0=n1 slot=1"}) {
    expect_error(
        ErrorCode::malformed_file, [&] { parse_hostfile(line, "hosts"); }, line,
        "a setting of Open MPI or MPICH");
  }
}

TEST(Hostfile, MpichsForm) {
  const Nodefile hosts = parse_hostfile("n1:4\nn2.cluster:2 binding=user:0,1\nn3\n", "hosts");
  EXPECT_THAT(hosts.hosts, ElementsAre("n1", "n2.cluster", "n3"));
  EXPECT_THAT(hosts.slots, ElementsAre(4, 2, 1));
}

TEST(Hostfile, Addresses) {
  const Nodefile hosts = parse_hostfile("10.0.0.1:2\nfd00::1\n[fd00::2]:3\n[fd00::3]\n", "hosts");
  EXPECT_THAT(hosts.hosts, ElementsAre("10.0.0.1", "fd00::1", "fd00::2", "fd00::3"));
  EXPECT_THAT(hosts.slots, ElementsAre(2, 1, 3, 1));
}

TEST(Hostfile, Users) {
  const Nodefile hosts = parse_hostfile(
      "ann@n1 slots=2\nn2 slots=1 username=bob\nn3 user_name = _me.too-2\nn4 user-name=machine$\n"
      "n5:2 user=eve\nann@[fd00::2]:3\nann@fd00::3\nn6\nn1\nann@n6 username=bob\n",
      "hosts");
  EXPECT_THAT(hosts.hosts, ElementsAre("n1", "n2", "n3", "n4", "n5", "fd00::2", "fd00::3", "n6"));
  EXPECT_THAT(hosts.slots, ElementsAre(3, 1, 1, 1, 2, 3, 1, 2));
  EXPECT_THAT(hosts.users,
              ElementsAre("ann", "bob", "_me.too-2", "machine$", "eve", "ann", "ann", "bob"));
}

TEST(Hostfile, AUserThatSshWouldReadInAnotherWayIsRefused) {
  const std::string long_name(65, 'a');
  for (const std::string& name :
       {std::string("-oProxyCommand"), std::string("-l"), std::string("a;b"), std::string("a$(b)"),
        std::string("a%h"), std::string("a/b"), std::string("1st"), std::string("$"),
        std::string("a$b"), std::string("a:b"), std::string("\u00fc"), long_name}) {
    for (const std::string& line : {name + "@n1", "n1 username=" + name, "n1 user_name=" + name,
                                    "n1 user-name=" + name, "n1:2 user=" + name}) {
      expect_error(
          ErrorCode::malformed_file, [&] { parse_hostfile(line, "hosts"); }, "line 1",
          "a user name");
    }
  }
  expect_error(
      ErrorCode::malformed_file, [] { parse_hostfile("ann@n1\nn2\nbob@n1\n", "hosts"); },
      "'bob@n1' in line 3", "the same user in every line of a host");
}

TEST(Hostfile, RepeatedHostsAddUpAsInANodefile) {
  const Nodefile hosts = parse_hostfile("n1\nn2\nn1\nn1:2\n", "hosts");
  EXPECT_THAT(hosts.hosts, ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts.slots, ElementsAre(4, 1));
  EXPECT_THAT(parse_hostfile("# nothing\n\n", "hosts").hosts, IsEmpty());
}

TEST(Hostfile, WhatIsNoEntryIsNamedWithItsLine) {
  for (const char* bad : {"n2 slots",
                          "n2 slots=",
                          "n2 slots=x",
                          "n2 slots=0",
                          "n2 slots=-1",
                          "n2 4",
                          "n2 slots=4 max",
                          "n2 slots=4 max_slots=2",
                          "n2:",
                          "n2:x",
                          "n2:0",
                          "n2:99999999",
                          ":4",
                          "=",
                          "+n0",
                          "^n1",
                          "n;2",
                          "-Fconfig",
                          "-Fconfig slots=1",
                          "[-Fconfig]",
                          "[fd00::1",
                          "[fd00::1]4",
                          "[]",
                          "user@",
                          "@n2",
                          "a@b@n2",
                          "user@-Fconfig",
                          "n2 =4",
                          "n2 slots==4"}) {
    expect_error(
        ErrorCode::malformed_file,
        [&] { parse_hostfile("n1\n" + std::string(bad) + "\n", "/etc/hosts.mpi"); }, "line 2",
        "/etc/hosts.mpi");
  }
}

TEST(Hostfile, SlotsBeyondAnyMachineAreAnError) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "n1 slots=1000\n";
  expect_error(
      ErrorCode::malformed_file, [&] { parse_hostfile(text, "f"); }, "n1 slots=1000");
}

TEST(Hostfile, EveryTruncationIsReadOrRefused) {
  const std::string whole = "n1 slots=4 max_slots=8\n[fd00::2]:3\nn3:12\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      parse_hostfile(whole.substr(0, length), "f");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_file) << length;
    }
  }
}

}  // namespace
}  // namespace hpcboot
