#include "hpcboot/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <iterator>

namespace hpcboot {
namespace {

std::string lower_label(std::string_view host) {
  std::string label(host.substr(0, host.find('.')));
  std::transform(label.begin(), label.end(), label.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return label;
}

// "fd00:0::1" and "FD00::1" are the same address.
bool same_address(std::string_view a, std::string_view b) {
  in6_addr first{};
  in6_addr second{};
  if (inet_pton(AF_INET6, std::string(a).c_str(), &first) != 1 ||
      inet_pton(AF_INET6, std::string(b).c_str(), &second) != 1)
    return a == b;
  return std::equal(std::begin(first.s6_addr), std::end(first.s6_addr), std::begin(second.s6_addr));
}

}  // namespace

std::uint16_t derive_port(std::string_view identity) {
  // FNV-1a, 64 bits: identical on every machine, unlike std::hash.
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
