#include "hpcboot/endpoint.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

Interface make(const char* name, const char* address, int speed = 0, bool up = true) {
  Interface interface;
  interface.name = name;
  interface.address = address;
  interface.ipv6 = std::string(address).find(':') != std::string::npos;
  interface.speed_mbps = speed;
  interface.up = up;
  return interface;
}

std::string chosen(std::vector<Interface> interfaces, const char* dump = "") {
  Facts facts;
  facts.interfaces = std::move(interfaces);
  const auto interface = choose_interface(Env::parse(dump), facts);
  return interface ? interface->name + " " + interface->address : "none";
}

TEST(Interface, PrefersTheFastClasses) {
  const auto lo = make("lo", "127.0.0.1");
  const auto eth = make("eth0", "10.0.0.1", 1000);
  const auto fast = make("ens5", "10.1.0.1", 100000);
  const auto ib = make("ib0", "10.2.0.1");
  const auto hsn = make("hsn0", "10.3.0.1");
  EXPECT_EQ(chosen({lo, eth}), "eth0 10.0.0.1");
  EXPECT_EQ(chosen({lo, eth, fast}), "ens5 10.1.0.1");
  EXPECT_EQ(chosen({lo, fast, ib, eth}), "ib0 10.2.0.1");
  EXPECT_EQ(chosen({lo, fast, ib, hsn, eth}), "hsn0 10.3.0.1");
}

// horovod#700, #584, #310, nccl#286: docker0 or lo chosen. monarch#4394: 127.0.1.1.
TEST(Interface, NeverOneThatLeadsNowhere) {
  EXPECT_EQ(
      chosen({make("lo", "127.0.0.1"), make("docker0", "172.17.0.1", 10000),
              make("virbr0", "192.168.122.1"), make("veth12ab", "10.9.9.9"),
              make("cni0", "10.244.0.1"), make("br-0a1b2c", "172.18.0.1"),
              make("eth1", "169.254.3.4"), make("eth2", "127.0.1.1"), make("eth3", "fe80::1")}),
      "none");
  for (const char* bridge :
       {"docker0", "lxdbr0", "incusbr0", "vboxnet0", "vmnet8", "tap0", "nerdctl0", "cbr0",
        "cilium_host", "weave", "kube-bridge", "antrea-gw0", "vxlan.calico", "dummy0"}) {
    EXPECT_EQ(chosen({make(bridge, "172.17.0.1", 10000), make("eth0", "10.0.0.1", 0)}),
              "eth0 10.0.0.1");
  }
  EXPECT_EQ(chosen({make("lom1", "10.0.0.1")}), "lom1 10.0.0.1") << "LAN port on the mainboard";
  EXPECT_EQ(chosen({make("eth0", "10.0.0.1", 1000, false), make("eth1", "10.0.0.2", 10)}),
            "eth1 10.0.0.2");
  EXPECT_EQ(chosen({}), "none");
}

TEST(Interface, PrefersIpv4AndTakesIpv6WhereThereIsNoOther) {
  EXPECT_EQ(chosen({make("eth0", "fd00::2"), make("eth0", "10.0.0.1")}), "eth0 10.0.0.1");
  EXPECT_EQ(chosen({make("eth0", "fe80::2"), make("eth0", "fd00::2")}), "eth0 fd00::2");
}

TEST(Interface, TheUserDecides) {
  const auto lo = make("lo", "127.0.0.1");
  const auto eth = make("eth0", "10.0.0.1");
  EXPECT_EQ(chosen({lo, eth}, "HPCBOOT_INTERFACE=lo\n"), "lo 127.0.0.1");
  const std::string wanted = "HPCBOOT_INTERFACE=eth0\n";
  EXPECT_EQ(chosen({make("eth0", "fe80::1"), make("eth0", "fd00::5")}, wanted.c_str()),
            "eth0 fd00::5");
  EXPECT_EQ(chosen({make("eth0", "169.254.3.3"), make("eth0", "10.0.0.3")}, wanted.c_str()),
            "eth0 10.0.0.3");
  test::expect_error(
      ErrorCode::no_usable_interface,
      [&] {
        chosen({lo, eth}, "HPCBOOT_INTERFACE=ib0\n");
      },
      "ib0", "lo eth0");
}

// The users' library settings narrow the choice; no interface that they excluded is chosen.
TEST(Interface, FollowsTheVariablesOfGlooAndNccl) {
  const auto eth0 = make("eth0", "10.0.0.1", 1000);
  const auto eth1 = make("eth1", "10.1.0.1", 1000);
  const auto ib0 = make("ib0", "10.2.0.1");
  const auto ib1 = make("ib1", "10.3.0.1");
  const std::pair<const char*, const char*> cases[] = {
      {"GLOO_SOCKET_IFNAME=eth1\n", "eth1 10.1.0.1"},
      {"GLOO_SOCKET_IFNAME=eth1,eth0\n", "eth0 10.0.0.1"},
      {"GLOO_SOCKET_IFNAME=eth\n", "ib0 10.2.0.1"},  // Gloo matches whole names
      {"NCCL_SOCKET_IFNAME=eth\n", "eth0 10.0.0.1"},
      {"NCCL_SOCKET_IFNAME==eth\n", "ib0 10.2.0.1"},
      {"NCCL_SOCKET_IFNAME==ib1\n", "ib1 10.3.0.1"},
      {"NCCL_SOCKET_IFNAME=^ib\n", "eth0 10.0.0.1"},
      {"NCCL_SOCKET_IFNAME=^=ib0,lo\n", "ib1 10.3.0.1"},
      {"NCCL_SOCKET_IFNAME=ib1:1\n", "ib1 10.3.0.1"},
      {"GLOO_SOCKET_IFNAME=eth1\nNCCL_SOCKET_IFNAME=ib\n", "eth1 10.1.0.1"},
      {"GLOO_SOCKET_IFNAME=enp3s0\n", "ib0 10.2.0.1"},  // not of this host
      {"GLOO_SOCKET_IFNAME=lo\n", "ib0 10.2.0.1"},      // not routable
      {"GLOO_SOCKET_IFNAME=eth1\nHPCBOOT_INTERFACE=ib1\n", "ib1 10.3.0.1"},
  };
  for (const auto& [dump, expected] : cases)
    EXPECT_EQ(chosen({make("lo", "127.0.0.1"), eth0, eth1, ib0, ib1}, dump), expected) << dump;
}

TEST(Interface, UnknownInAForeignEnvironment) {
  EXPECT_FALSE(choose_interface(Env::parse("HPCBOOT_INTERFACE=ib0\n"), Facts{}));
}

TEST(DerivedPort, StaysBelowTheEphemeralRangeAndSpreads) {
  std::set<int> ports;
  for (int job = 0; job < 2000; ++job) {
    const int port = derive_port(std::to_string(job) + "/0");
    EXPECT_GE(port, 20000);
    EXPECT_LT(port, 32768);
    ports.insert(port);
  }
  // Of 2000 ports drawn from 12768, about 1850 are distinct; job id % N would alias neighbouring
  // ids.
  EXPECT_GT(ports.size(), 1700U);
  EXPECT_EQ(derive_port("7/0"), derive_port("7/0"));
  EXPECT_NE(derive_port("7/0"), derive_port("7/1"));
}

TEST(SameHost, ComparesFirstLabels) {
  EXPECT_TRUE(same_host("n1", "n1.cluster.site"));
  EXPECT_TRUE(same_host("X4114c1.hostmgmt", "x4114c1"));
  EXPECT_FALSE(same_host("n1", "n12"));
  EXPECT_TRUE(same_host("10.0.0.1", "10.0.0.1"));
  EXPECT_FALSE(same_host("10.0.0.1", "10.0.0.2"));
  EXPECT_TRUE(same_host("fd00:0:0::1", "FD00::1"));
  EXPECT_FALSE(same_host("fd00::1", "fd00::2"));
  EXPECT_FALSE(same_host("fd00::1", "fd00"));
}

}  // namespace
}  // namespace hpcboot
