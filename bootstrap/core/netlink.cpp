#include "netlink.hpp"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

// The kernel's tables of links, addresses and routes, one dump each (rtnetlink(7)).
namespace hpcboot {
namespace {

// The value at the start of `bytes`, which may be unaligned; nullopt if there are too few bytes.
template <typename T>
std::optional<T> value_of(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Also removes the padding that netlink adds after `length` bytes.
void drop_aligned(std::string_view& bytes, std::size_t length) {
  bytes.remove_prefix(std::min(bytes.size(), (length + 3U) & ~std::size_t{3}));
}

// The payloads of an attribute list by type; empty if absent.
class Attributes {
 public:
  explicit Attributes(std::string_view bytes) {
    while (const auto head = value_of<rtattr>(bytes)) {
      if (head->rta_len < sizeof *head || head->rta_len > bytes.size()) return;
      const std::size_t type = head->rta_type & static_cast<std::uint16_t>(NLA_TYPE_MASK);
      if (type < payloads_.size())
        payloads_[type] = bytes.substr(sizeof *head, head->rta_len - sizeof *head);
      drop_aligned(bytes, head->rta_len);
    }
  }

  std::string_view operator[](std::size_t type) const { return payloads_[type]; }

  std::string text(std::size_t type) const {
    const std::string_view payload = payloads_[type];
    return std::string(payload.substr(0, payload.find('\0')));
  }

 private:
  std::array<std::string_view, IFLA_MASTER + 16> payloads_;
};

class RouteSocket {
 public:
  RouteSocket() : descriptor_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    // The kernel answers immediately; a sandbox that drops the request must not hang the program.
    const timeval limit{1, 0};
    if (descriptor_ >= 0) setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~RouteSocket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  RouteSocket(const RouteSocket&) = delete;
  RouteSocket& operator=(const RouteSocket&) = delete;

  // Passes each object of a table to `take`: the fixed part and the attributes after it. False if
  // the table could not be read completely.
  template <typename Fixed, typename Question, typename Take>
  bool dump(std::uint16_t request, std::uint16_t answer, const Question& question,
            const Take& take) {
    struct {
      nlmsghdr head;
      Question body;
    } message{};
    message.head.nlmsg_len = sizeof message;
    message.head.nlmsg_type = request;
    message.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.body = question;
    if (descriptor_ < 0 || send(descriptor_, &message, sizeof message, 0) < 0) return false;
    std::vector<char> buffer(32768);  // the most that the kernel sends at once
    while (true) {
      const ssize_t received = recv(descriptor_, buffer.data(), buffer.size(), 0);
      if (received <= 0) return false;
      std::string_view rest(buffer.data(), static_cast<std::size_t>(received));
      while (const auto head = value_of<nlmsghdr>(rest)) {
        if (head->nlmsg_type == NLMSG_DONE) return true;
        if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_len < sizeof *head ||
            head->nlmsg_len > rest.size())
          return false;
        const std::string_view body = rest.substr(sizeof *head, head->nlmsg_len - sizeof *head);
        const auto fixed = value_of<Fixed>(body);
        if (head->nlmsg_type == answer && fixed) take(*fixed, body.substr(sizeof(Fixed)));
        drop_aligned(rest, head->nlmsg_len);
      }
    }
  }

 private:
  int descriptor_;
};

std::string address_text(int family, std::string_view bytes) {
  std::array<unsigned char, sizeof(in6_addr)> address{};  // zeros: the default route has no address
  std::copy_n(bytes.begin(), std::min(bytes.size(), address.size()), address.begin());
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family, address.data(), text, sizeof text);
  return text;
}

// The interfaces of a multipath route (RTA_MULTIPATH).
std::vector<int> ways_of(std::string_view hops) {
  std::vector<int> ways;
  while (const auto hop = value_of<rtnexthop>(hops)) {
    if (hop->rtnh_len < sizeof *hop || hop->rtnh_len > hops.size()) break;
    if ((hop->rtnh_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) == 0) ways.push_back(hop->rtnh_ifindex);
    drop_aligned(hops, hop->rtnh_len);
  }
  return ways;
}

using Links = std::map<int, Interface>;  // by index, without an address

std::optional<Links> dump_links(RouteSocket& socket) {
  struct {
    ifinfomsg link;
    rtattr head;
    std::uint32_t mask;
  } question{};
  question.head.rta_type = IFLA_EXT_MASK;
  question.head.rta_len = sizeof question.head + sizeof question.mask;
  question.mask = RTEXT_FILTER_SKIP_STATS;  // counters would be most of the answer
  Links links;
  std::vector<std::pair<int, std::string>> ports;  // index of the master, kind of the port
  const auto take = [&](const ifinfomsg& link, std::string_view rest) {
    const Attributes attributes(rest);
    Interface& entry = links[link.ifi_index];
    entry.name = attributes.text(IFLA_IFNAME);
    entry.up = (link.ifi_flags & IFF_UP) != 0 && (link.ifi_flags & IFF_RUNNING) != 0;
    entry.kind = Attributes(attributes[IFLA_LINKINFO]).text(IFLA_INFO_KIND);
    entry.infiniband = link.ifi_type == ARPHRD_INFINIBAND;
    entry.port_kinds.emplace();
    if (const auto master = value_of<int>(attributes[IFLA_MASTER]))
      ports.emplace_back(*master, *entry.kind);
  };
  if (!socket.dump<ifinfomsg>(RTM_GETLINK, RTM_NEWLINK, question, take)) return std::nullopt;
  for (const auto& [master, kind] : ports) {
    const auto bridge = links.find(master);
    if (bridge == links.end()) continue;
    std::vector<std::string>& kinds = *bridge->second.port_kinds;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return links;
}

std::optional<std::vector<Interface>> dump_addresses(RouteSocket& socket, const Links& links) {
  std::vector<Interface> found;
  const auto take = [&](const ifaddrmsg& address, std::string_view rest) {
    const auto link = links.find(static_cast<int>(address.ifa_index));
    if (link == links.end()) return;
    if (address.ifa_family != AF_INET && address.ifa_family != AF_INET6) return;
    const Attributes attributes(rest);
    Interface interface = link->second;
    // On a point-to-point link, IFA_ADDRESS is the address of the other end.
    const std::string_view local = attributes[IFA_LOCAL];
    interface.address =
        address_text(address.ifa_family, local.empty() ? attributes[IFA_ADDRESS] : local);
    interface.ipv6 = address.ifa_family == AF_INET6;
    if (const std::string label = attributes.text(IFA_LABEL); !label.empty())
      interface.name = label;
    found.push_back(std::move(interface));
  };
  if (!socket.dump<ifaddrmsg>(RTM_GETADDR, RTM_NEWADDR, ifaddrmsg{}, take)) return std::nullopt;
  return found;
}

bool dump_routes(RouteSocket& socket, int family, const Links& links, std::vector<Route>& routes) {
  const auto take = [&](const rtmsg& route, std::string_view rest) {
    const Attributes attributes(rest);
    const auto table = value_of<std::uint32_t>(attributes[RTA_TABLE]);
    if (table.value_or(route.rtm_table) != RT_TABLE_MAIN || route.rtm_type != RTN_UNICAST ||
        (route.rtm_flags & (RTM_F_CLONED | RTNH_F_DEAD | RTNH_F_LINKDOWN)) != 0)
      return;
    std::vector<int> ways = ways_of(attributes[RTA_MULTIPATH]);
    if (const auto only = value_of<int>(attributes[RTA_OIF])) ways.push_back(*only);
    for (const int way : ways) {
      const auto link = links.find(way);
      if (link == links.end() || routes.size() == kMaxRoutes) continue;
      routes.push_back({address_text(family, attributes[RTA_DST]), route.rtm_dst_len,
                        link->second.name,
                        static_cast<std::int64_t>(
                            value_of<std::uint32_t>(attributes[RTA_PRIORITY]).value_or(0))});
    }
  };
  rtmsg question{};
  question.rtm_family = static_cast<unsigned char>(family);
  return socket.dump<rtmsg>(RTM_GETROUTE, RTM_NEWROUTE, question, take);
}

}  // namespace

std::optional<KernelNetwork> ask_kernel_for_network() {
  RouteSocket socket;
  const auto links = dump_links(socket);
  if (!links) return std::nullopt;
  auto interfaces = dump_addresses(socket, *links);
  if (!interfaces) return std::nullopt;
  KernelNetwork network{*std::move(interfaces), std::nullopt};
  std::vector<Route> routes;
  // A kernel without IPv6 has no second table.
  if (dump_routes(socket, AF_INET, *links, routes)) {
    dump_routes(socket, AF_INET6, *links, routes);
    network.routes = std::move(routes);
  }
  return network;
}

}  // namespace hpcboot
