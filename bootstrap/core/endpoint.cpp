#include "hpcboot/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "hpcboot/error.hpp"
#include "socket_ifname.hpp"

namespace hpcboot {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_link_local(std::string_view address) {
  return starts_with(address, "169.254.") || starts_with(address, "fe80");
}

// Interfaces that never lead to another node: loopback, and what container and VM software makes.
bool is_local_only(const Interface& interface) {
  static constexpr std::array<std::string_view, 26> kPrefixes = {
      "docker", "virbr", "veth",  "cni",    "flannel", "cali",    "br-",     "podman",  "lxc",
      "lxdbr",  "tun",   "tap",   "vnet",   "vmnet",   "vboxnet", "incusbr", "nerdctl", "cbr",
      "cilium", "weave", "kube-", "antrea", "vxlan",   "geneve",  "dummy",   "lo:"};
  if (interface.name == "lo" ||
      std::any_of(kPrefixes.begin(), kPrefixes.end(),
                  [&](std::string_view prefix) { return starts_with(interface.name, prefix); })) {
    return true;
  }
  return starts_with(interface.address, "127.") || interface.address == "::1" ||
         is_link_local(interface.address);
}

// Of an interface's addresses: others reach a link-local one by a scope of their own only.
std::pair<bool, bool> rank_of(const Interface& interface) {
  return {is_link_local(interface.address), interface.ipv6};
}

// Slingshot, InfiniBand, then all other by speed.
int class_of(const Interface& interface) {
  if (starts_with(interface.name, "hsn")) return 0;
  if (starts_with(interface.name, "ib")) return 1;
  return 2;
}

std::string lower_label(std::string_view host) {
  std::string label(host.substr(0, host.find('.')));
  std::transform(label.begin(), label.end(), label.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return label;
}

// "fd00:0::1" and "FD00::1" are one.
bool same_address(std::string_view a, std::string_view b) {
  in6_addr first{};
  in6_addr second{};
  if (inet_pton(AF_INET6, std::string(a).c_str(), &first) != 1 ||
      inet_pton(AF_INET6, std::string(b).c_str(), &second) != 1)
    return a == b;
  return std::equal(std::begin(first.s6_addr), std::end(first.s6_addr), std::begin(second.s6_addr));
}

}  // namespace

std::optional<Interface> choose_interface(const Env& env, const Facts& facts) {
  if (!facts.interfaces) return std::nullopt;
  const std::vector<Interface>& all = *facts.interfaces;
  if (const auto wanted = env.text("HPCBOOT_INTERFACE")) {
    const Interface* chosen = nullptr;
    std::string names;
    for (const Interface& interface : all) {
      if (names.find(" " + interface.name) == std::string::npos) names += " " + interface.name;
      if (interface.name == *wanted && (chosen == nullptr || rank_of(interface) < rank_of(*chosen)))
        chosen = &interface;
    }
    if (chosen != nullptr) return *chosen;
    throw Error(
        ErrorCode::no_usable_interface,
        "HPCBOOT_INTERFACE='" + std::string(*wanted) + "' on host " + facts.hostname.value_or("?"),
        "the name of an interface with an address:" + names,
        "correct HPCBOOT_INTERFACE or unset it");
  }
  std::vector<const Interface*> usable;
  for (const Interface& interface : all) {
    if (interface.up && !is_local_only(interface)) usable.push_back(&interface);
  }
  for (const char* variable : kInterfaceVariables) {
    const auto value = env.text(variable);
    if (!value) continue;
    std::vector<const Interface*> named;
    std::copy_if(usable.begin(), usable.end(), std::back_inserter(named),
                 [&](const Interface* i) { return names_interface(variable, *value, i->name); });
    // What names nothing here is for the libraries to complain about.
    if (!named.empty()) usable = std::move(named);
  }
  const auto best =
      std::min_element(usable.begin(), usable.end(), [](const Interface* a, const Interface* b) {
        // IPv4 first within a class: what binds to an interface by name finds it on every library
        // version.
        return std::make_tuple(class_of(*a), a->ipv6, -a->speed_mbps) <
               std::make_tuple(class_of(*b), b->ipv6, -b->speed_mbps);
      });
  if (best == usable.end()) return std::nullopt;
  return **best;
}

std::uint16_t derive_port(std::string_view identity) {
  // FNV-1a, 64 bits: the same on every machine, unlike std::hash.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  constexpr std::uint64_t kFirst = 20000;
  constexpr std::uint64_t kLast = 32767;
  return static_cast<std::uint16_t>(kFirst + (hash ^ (hash >> 32U)) % (kLast - kFirst + 1));
}

bool is_numeric_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.substr(0, 4) == "127.";
}

bool same_host(std::string_view a, std::string_view b) {
  if (is_numeric_address(a) || is_numeric_address(b)) return same_address(a, b);
  return lower_label(a) == lower_label(b);
}

}  // namespace hpcboot
