#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <netinet/in.h>

#include <fstream>
#include <set>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/resolve.hpp"

// Interface choice from the kernel's links and routes. For names alone: endpoint_test.cpp.
namespace hpcboot {
namespace {

Interface link(const char* name, const char* address, const char* kind, int speed = 0) {
  Interface interface;
  interface.name = name;
  interface.address = address;
  interface.ipv6 = std::string(address).find(':') != std::string::npos;
  interface.speed_mbps = speed;
  interface.kind = kind;
  interface.infiniband = false;
  interface.port_kinds.emplace();
  if (*kind == '\0') interface.has_device = true;
  return interface;
}

Interface hardware(const char* name, const char* address, int speed = 0) {
  return link(name, address, "", speed);
}

Interface bridge(const char* name, const char* address, std::vector<std::string> ports) {
  Interface interface = link(name, address, "bridge", 10000);
  interface.port_kinds = std::move(ports);
  return interface;
}

Route default_over(const char* name, int metric = 0) {
  return {"0.0.0.0", 0, name, metric};
}

std::string chosen(std::vector<Interface> interfaces, std::vector<Route> routes,
                   const char* dump = "", const std::vector<std::string>& hosts = {}) {
  Facts facts;
  facts.interfaces = std::move(interfaces);
  facts.routes = std::move(routes);
  const auto interface = choose_interface(Env::parse(dump), facts, hosts);
  return interface ? interface->name : "none";
}

TEST(KernelInterface, NoBridgeOfThisHostWinsByItsSpeed) {
  const auto eth0 = hardware("eth0", "10.0.0.1");
  for (const char* name : {"lxdbr0", "incusbr0", "mpqemubr0", "waydroid0", "lan", "br0"}) {
    for (const std::vector<std::string>& ports :
         {std::vector<std::string>{}, {"veth"}, {"tun"}, {"veth", "vxlan"}}) {
      const auto local = bridge(name, "10.99.0.1", ports);
      EXPECT_EQ(chosen({local, eth0}, {default_over("eth0")}), "eth0") << name;
      EXPECT_EQ(chosen({local, eth0}, {}), "eth0") << name << ", an isolated network";
      EXPECT_EQ(chosen({local}, {}), "none") << name;
    }
  }
}

TEST(KernelInterface, NoTunnelAndNoDummyIsChosenWithoutARoute) {
  const auto eth0 = hardware("eth0", "10.0.0.1");
  for (const char* kind : {"tun", "wireguard", "dummy", "vxlan", "geneve", "gre", "ipip", "sit",
                           "ip6tnl", "ifb", "xfrm"}) {
    const auto other = link("ens5", "100.64.0.1", kind, 100000);
    EXPECT_EQ(chosen({other, eth0}, {default_over("eth0")}), "eth0") << kind;
    EXPECT_EQ(chosen({other}, {}), "none") << kind;
    EXPECT_EQ(chosen({other}, {default_over("ens5")}), "ens5") << kind << " is the only way out";
  }
}

// A laptop whose VPN takes the default route still reaches its neighbours over the cable.
TEST(KernelInterface, HardwareWithADefaultRouteGoesBeforeATunnelWithABetterOne) {
  EXPECT_EQ(chosen({link("tun0", "10.8.0.2", "tun"), hardware("wlan0", "10.0.0.1")},
                   {default_over("tun0", 50), default_over("wlan0", 600)}),
            "wlan0");
}

TEST(KernelInterface, TheHostsOwnBridgeIsUsable) {
  for (const char* port : {"", "bond", "vlan"}) {
    const auto br0 = bridge("br0", "10.0.0.1", {"veth", port});
    EXPECT_EQ(chosen({br0}, {default_over("br0")}), "br0") << port;
    EXPECT_EQ(chosen({br0}, {}), "br0") << port << ", an isolated network";
  }
  EXPECT_EQ(chosen({bridge("br0", "10.0.0.1", {"veth"})}, {default_over("br0")}), "br0");
}

TEST(KernelInterface, BondsVlansAndLinksOfContainersAreUsable) {
  const auto docker0 = bridge("docker0", "172.17.0.1", {"veth"});
  for (const char* kind : {"bond", "team", "vlan", "macvlan", "ipvlan", "veth", "netkit",
                           "openvswitch", "ipoib", "invented_in_2040"}) {
    const auto net0 = link("net0", "10.0.0.1", kind, 1000);
    EXPECT_EQ(chosen({docker0, net0}, {default_over("net0")}), "net0") << kind;
    EXPECT_EQ(chosen({docker0, net0}, {}), "net0") << kind << ", an isolated network";
  }
}

TEST(KernelInterface, AVethLeadsOutOnlyIfNothingElseDoes) {
  const auto cilium_host = link("cilium_host", "10.0.1.1", "veth", 10000);
  const auto eth0 = hardware("eth0", "10.0.0.1", 1000);
  EXPECT_EQ(chosen({cilium_host, eth0}, {}), "eth0");
  EXPECT_EQ(chosen({cilium_host, eth0}, {default_over("eth0")}), "eth0");
  // A pod's own eth0 and an RDMA port that reaches no service.
  EXPECT_EQ(
      chosen({link("eth0", "10.244.0.9", "veth", 10000), hardware("net1", "10.9.0.1", 400000)},
             {default_over("eth0")}),
      "eth0");
  // VirtualBox reports no kind, and has no device.
  auto vboxnet0 = hardware("vboxnet0", "192.168.56.1", 10000);
  vboxnet0.has_device = false;
  EXPECT_EQ(chosen({vboxnet0, eth0}, {}), "eth0");
}

TEST(KernelInterface, FabricsGoBeforeTheDefaultRoute) {
  const auto eth0 = hardware("eth0", "10.0.0.1", 100000);
  auto ibp1s0 = hardware("ibp1s0", "10.2.0.1");
  ibp1s0.infiniband = true;
  auto bond0 = link("bond0", "10.2.0.2", "bond");
  bond0.infiniband = true;
  const std::vector<Route> over_eth0 = {default_over("eth0")};
  EXPECT_EQ(chosen({eth0, ibp1s0}, over_eth0), "ibp1s0");
  EXPECT_EQ(chosen({eth0, bond0}, over_eth0), "bond0") << "two adapters bonded";
  EXPECT_EQ(chosen({eth0, ibp1s0, hardware("hsn0", "10.3.0.1")}, over_eth0), "hsn0");
  for (const char* kind : {"macvlan", "veth"})  // in a container
    EXPECT_EQ(chosen({eth0, link("hsn0", "10.3.0.1", kind)}, over_eth0), "hsn0") << kind;
  // A name does not make a fabric.
  EXPECT_EQ(chosen({eth0, hardware("ibm0", "10.2.0.1")}, over_eth0), "eth0");
  EXPECT_EQ(chosen({eth0, link("ib0", "10.2.0.1", "dummy")}, over_eth0), "eth0");
  EXPECT_EQ(chosen({eth0, bridge("hsn0", "10.3.0.1", {"veth"})}, over_eth0), "eth0");
}

TEST(KernelInterface, TheDefaultRouteGoesBeforeSpeedAndName) {
  const auto slow = hardware("eth1", "10.0.0.1", 1000);
  const auto fast = hardware("eth0", "10.1.0.1", 100000);
  EXPECT_EQ(chosen({fast, slow}, {default_over("eth1")}), "eth1");
  EXPECT_EQ(chosen({fast, slow}, {default_over("eth0", 200), default_over("eth1", 100)}), "eth1");
  EXPECT_EQ(chosen({fast, slow}, {{"::", 0, "eth1", 1024}}), "eth1");
  EXPECT_EQ(chosen({fast, slow}, {}), "eth0");
  EXPECT_EQ(chosen({hardware("eth10", "10.0.0.1"), hardware("eth2", "10.1.0.1")}, {}), "eth2");
  EXPECT_EQ(chosen({hardware("eth0:1", "10.0.0.1"), fast}, {default_over("eth0")}), "eth0");
}

TEST(KernelInterface, TheRouteToThePeersGoesBeforeTheDefaultRoute) {
  const std::vector<Interface> both = {hardware("eth0", "192.0.2.1", 1000),
                                       hardware("eth1", "10.1.0.1"),
                                       bridge("lxdbr0", "10.99.0.1", {"veth"})};
  const std::vector<Route> routes = {default_over("eth0"),
                                     {"192.0.2.0", 24, "eth0", 0},
                                     {"10.1.0.0", 16, "eth1", 0},
                                     {"10.99.0.0", 24, "lxdbr0", 0},
                                     {"fd01::", 64, "eth1", 256}};
  const auto with = [&](const char* dump, const std::vector<std::string>& hosts = {}) {
    return chosen(both, routes, dump, hosts);
  };
  EXPECT_EQ(with(""), "eth0");
  EXPECT_EQ(with("MASTER_ADDR=10.1.3.7\n"), "eth1");
  EXPECT_EQ(with("MASTER_ADDR=10.1.0.1\n"), "eth1") << "rank 0, its own address";
  EXPECT_EQ(with("HPCBOOT_MASTER_ADDR=fd01::7\n"), "eth1");
  EXPECT_EQ(with("", {"10.1.3.7", "10.1.3.8"}), "eth1");
  EXPECT_EQ(with("MASTER_ADDR=10.99.0.5\n"), "lxdbr0") << "the ranks are this host's containers";
  EXPECT_EQ(with("MASTER_ADDR=198.51.100.1\n"), "eth0") << "far away";
  for (const char* nothing : {"MASTER_ADDR=n1\n", "MASTER_ADDR=127.0.0.1\n", "MASTER_ADDR=::1\n",
                              "MASTER_ADDR=10.1\n", "MASTER_ADDR=10.1.3.7x\n"})
    EXPECT_EQ(with(nothing), "eth0") << nothing;
  EXPECT_EQ(with("NCCL_SOCKET_IFNAME=eth0\nMASTER_ADDR=10.1.3.7\n"), "eth0") << "the user decides";
}

TEST(KernelInterface, TheHostsOfTheLaunchArePeers) {
  Facts facts;
  facts.interfaces = {hardware("eth0", "192.0.2.1", 100000), hardware("eth1", "10.1.0.1")};
  facts.routes = {default_over("eth0"), {"10.1.0.0", 16, "eth1", 0}};
  EXPECT_EQ(resolve(Env::parse("SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=10.1.0.[1-2]\nSLURM_STEP_ID=0\n"
                               "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n"
                               "SLURM_STEP_NUM_TASKS=2\nSLURM_STEP_NUM_NODES=2\n"
                               "SLURM_STEP_NODELIST=10.1.0.[1-2]\n"
                               "SLURM_STEP_TASKS_PER_NODE=1(x2)\n"),
                    facts)
                .interface,
            "eth1");
}

TEST(KernelInterface, ThisHostsFactsHaveKindsAndRoutes) {
  const Facts facts = Facts::of_this_process(Env());
  ASSERT_TRUE(facts.interfaces);
  if (!facts.routes) GTEST_SKIP() << "the kernel does not answer over rtnetlink here";
  for (const Interface& interface : *facts.interfaces) {
    EXPECT_TRUE(interface.kind) << interface.name;
    int type = 0;
    std::ifstream("/sys/class/net/" + interface.name + "/type") >> type;
    EXPECT_EQ(interface.infiniband, type == ARPHRD_INFINIBAND) << interface.name;
    EXPECT_TRUE(interface.port_kinds) << interface.name;
  }
}

TEST(KernelInterface, ThisHostsFactsHaveAllAddresses) {
  const Facts facts = Facts::of_this_process(Env());
  if (!facts.routes) GTEST_SKIP() << "the kernel does not answer over rtnetlink here";
  std::multiset<std::string> found;
  for (const Interface& interface : facts.interfaces.value())
    found.insert(interface.name + " " + interface.address + (interface.ipv6 ? " 6" : " 4"));
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  std::multiset<std::string> expected;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const int family = entry->ifa_addr == nullptr ? AF_UNSPEC : entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const void* address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    if (family == AF_INET6)
      address = &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
    char text[INET6_ADDRSTRLEN] = {};
    inet_ntop(family, address, text, sizeof text);
    expected.insert(std::string(entry->ifa_name) + " " + text + (family == AF_INET6 ? " 6" : " 4"));
  }
  freeifaddrs(all);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace hpcboot
