#include "interface.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "contains.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "socket_ifname.hpp"

// Which interface does this rank use? Kernel data on links and routes takes precedence over names.
namespace hpcboot {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_link_local(std::string_view address) {
  return starts_with(address, "169.254.") || starts_with(address, "fe80");
}

// "eth0:1" is a label of an address on eth0.
std::string_view link_of(const Interface& interface) {
  return std::string_view(interface.name).substr(0, interface.name.find(':'));
}

// Does a link reach other hosts?
enum class Leads { out, perhaps, nowhere };

// Captures of older versions and handwritten descriptions have only names.
Leads leads_by_name(std::string_view name) {
  static constexpr std::array<std::string_view, 25> kPrefixes = {
      "docker", "virbr", "veth",  "cni",    "flannel", "cali",    "br-",     "podman",  "lxc",
      "lxdbr",  "tun",   "tap",   "vnet",   "vmnet",   "vboxnet", "incusbr", "nerdctl", "cbr",
      "cilium", "weave", "kube-", "antrea", "vxlan",   "geneve",  "dummy"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return starts_with(name, prefix); })
             ? Leads::nowhere
             : Leads::out;
}

// The kinds are those of rtnetlink (`ip link help`). Kinds not listed, such as bond, vlan, macvlan
// or ipoib, use a link that leads out.
Leads leads_by_kind(std::string_view kind) {
  // Tunnels and virtual devices.
  static constexpr std::array<std::string_view, 21> kNowhere = {
      "bridge",    "dummy",   "ifb",    "nlmon",  "tun",    "wireguard", "vxlan",
      "geneve",    "bareudp", "gre",    "gretap", "ip6gre", "ip6gretap", "erspan",
      "ip6erspan", "ipip",    "ip6tnl", "sit",    "vti",    "vti6",      "xfrm"};
  // One end is on a host, the other in a container or on a software switch: from inside the
  // container, its only way out looks the same as the host's end.
  static constexpr std::array<std::string_view, 3> kPerhaps = {"veth", "netkit", "openvswitch"};
  if (contains(kNowhere, kind)) return Leads::nowhere;
  return contains(kPerhaps, kind) ? Leads::perhaps : Leads::out;
}

Leads leads(const Interface& interface) {
  if (!interface.kind) return leads_by_name(link_of(interface));
  // Out-of-tree drivers (VirtualBox, VMware) report no kind, but have no device either.
  if (interface.kind->empty()) return interface.has_device == false ? Leads::perhaps : Leads::out;
  if (*interface.kind == "bridge") {
    if (!interface.port_kinds) return Leads::perhaps;
    const auto& ports = *interface.port_kinds;
    const bool has_way_out = std::any_of(ports.begin(), ports.end(), [](const std::string& kind) {
      return leads_by_kind(kind) == Leads::out;
    });
    return has_way_out ? Leads::out : Leads::nowhere;
  }
  return leads_by_kind(*interface.kind);
}

constexpr std::int64_t kNoRoute = std::numeric_limits<std::int64_t>::max();

std::int64_t metric_of_default_route(const Interface& interface, const Facts& facts) {
  std::int64_t least = kNoRoute;
  if (!facts.routes) return least;
  for (const Route& route : *facts.routes) {
    if (route.prefix_length == 0 && route.interface == link_of(interface))
      least = std::min(least, route.metric);
  }
  return least;
}

bool has_local_address(const Interface& interface) {
  return link_of(interface) == "lo" || is_loopback(interface.address) ||
         is_link_local(interface.address);
}

struct Address {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  int family = AF_UNSPEC;
};

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  for (const int family : {AF_INET, AF_INET6}) {
    address.family = family;
    if (inet_pton(family, text.c_str(), address.bytes.data()) == 1) return address;
  }
  return std::nullopt;
}

bool holds(const Address& network, int prefix_length, const Address& address) {
  if (network.family != address.family) return false;
  for (std::size_t byte = 0; byte < address.bytes.size() && prefix_length > 0; ++byte) {
    const unsigned mask = prefix_length >= 8 ? 0xFFU : (0xFF00U >> prefix_length) & 0xFFU;
    if (((network.bytes[byte] ^ address.bytes[byte]) & mask) != 0) return false;
    prefix_length -= 8;
  }
  return true;
}

// The links that the kernel would use for this address: longest prefix, then metric.
std::set<std::string, std::less<>> links_to(const std::string& peer, const Facts& facts) {
  std::set<std::string, std::less<>> links;
  const auto address = parse_address(peer);
  if (!address || is_loopback(peer) || is_link_local(peer)) return links;
  for (const Interface& own : *facts.interfaces) {
    if (same_host(own.address, peer)) return {std::string(link_of(own))};
  }
  std::pair<int, std::int64_t> best{-1, 0};
  for (const Route& route : facts.routes ? *facts.routes : std::vector<Route>{}) {
    const std::pair<int, std::int64_t> fit{route.prefix_length, -route.metric};
    if (fit < best) continue;
    const auto network = parse_address(route.destination);
    if (!network || !holds(*network, route.prefix_length, *address)) continue;
    if (fit > best) links.clear();
    best = fit;
    links.insert(route.interface);
  }
  return links;
}

// The links to the known addresses of other ranks' hosts.
std::set<std::string, std::less<>> links_to_peers(const Env& env, const Facts& facts,
                                                  const std::vector<std::string>& hosts) {
  std::vector<std::string> peers = hosts;
  for (const char* variable : {"HPCBOOT_MASTER_ADDR", "MASTER_ADDR"}) {
    if (const auto address = env.text(variable)) peers.emplace_back(*address);
  }
  std::set<std::string, std::less<>> links;
  for (const std::string& peer : peers) links.merge(links_to(peer, facts));
  return links;
}

// Slingshot, InfiniBand, then all others. The kernel reports InfiniBand, but reports Slingshot as
// Ethernet.
int class_of(const Interface& interface) {
  if (leads(interface) == Leads::nowhere) return 2;
  if (starts_with(interface.name, "hsn")) return 0;
  return interface.infiniband.value_or(!interface.kind && starts_with(interface.name, "ib")) ? 1
                                                                                             : 2;
}

// Orders the addresses of an interface: peers reach a link-local address only with a scope of their
// own.
std::pair<bool, bool> rank_of(const Interface& interface) {
  return {is_link_local(interface.address), interface.ipv6};
}

const Interface& named(std::string_view wanted, const Facts& facts) {
  const Interface* chosen = nullptr;
  std::string names;
  for (const Interface& interface : *facts.interfaces) {
    if (names.find(" " + interface.name) == std::string::npos) names += " " + interface.name;
    if (interface.name == wanted && (chosen == nullptr || rank_of(interface) < rank_of(*chosen)))
      chosen = &interface;
  }
  if (chosen != nullptr) return *chosen;
  throw Error(
      ErrorCode::no_usable_interface,
      "HPCBOOT_INTERFACE='" + std::string(wanted) + "' on host " + facts.hostname.value_or("?"),
      "one of the interfaces with an address:" + names, "correct HPCBOOT_INTERFACE or unset it");
}

}  // namespace

bool is_local_link(const Interface& interface, const Facts& facts) {
  return leads(interface) == Leads::nowhere &&
         metric_of_default_route(interface, facts) == kNoRoute;
}

std::optional<Interface> choose_interface(const Env& env, const Facts& facts,
                                          const std::vector<std::string>& hosts) {
  if (!facts.interfaces) return std::nullopt;
  if (const auto wanted = env.text("HPCBOOT_INTERFACE")) return named(*wanted, facts);
  const auto to_peers = links_to_peers(env, facts, hosts);
  const auto reaches_peers = [&](const Interface& interface) {
    return to_peers.find(link_of(interface)) != to_peers.end();
  };
  std::vector<const Interface*> usable;
  for (const Interface& interface : *facts.interfaces) {
    if (!interface.up || has_local_address(interface)) continue;
    if (reaches_peers(interface) || !is_local_link(interface, facts)) usable.push_back(&interface);
  }
  for (const char* variable : kInterfaceVariables) {
    const auto value = env.text(variable);
    if (!value) continue;
    std::vector<const Interface*> allowed;
    std::copy_if(usable.begin(), usable.end(), std::back_inserter(allowed),
                 [&](const Interface* i) { return names_interface(variable, *value, i->name); });
    // If the value matches nothing here, let the libraries report it.
    if (!allowed.empty()) usable = std::move(allowed);
  }
  const auto preference = [&](const Interface& i) {
    const std::int64_t metric = metric_of_default_route(i, facts);
    // IPv4 before IPv6: libraries of every version that bind by interface name find it. The name
    // last, so that identical hosts choose alike; eth2 before eth10.
    return std::make_tuple(class_of(i), !reaches_peers(i), metric == kNoRoute, leads(i), metric,
                           i.ipv6, -i.speed_mbps, i.name.size(), std::string_view(i.name));
  };
  const auto best = std::min_element(
      usable.begin(), usable.end(),
      [&](const Interface* a, const Interface* b) { return preference(*a) < preference(*b); });
  if (best == usable.end()) return std::nullopt;
  return **best;
}

}  // namespace hpcboot
