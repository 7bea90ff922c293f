#include "address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

[[noreturn]] void fail(std::string_view variable, std::string_view text, const char* expected,
                       std::string_view port_variable = {}) {
  constexpr std::string_view kFirst = "HPCBOOT_MASTER_ADDR";  // it precedes all others
  const std::string name(variable);
  const std::string other = variable == kFirst ? "" : ", or set " + std::string(kFirst);
  throw Error(ErrorCode::malformed_value, name + "='" + std::string(text.substr(0, 80)) + "'",
              expected,
              port_variable.empty() ? "correct " + name + other
                                    : "set " + name + " to the host only, and " +
                                          std::string(port_variable) + " to the port");
}

// A scope is allowed: "fe80::1%eth0".
bool is_ipv6(std::string_view text) {
  in6_addr ignored{};
  return inet_pton(AF_INET6, std::string(text.substr(0, text.find('%'))).c_str(), &ignored) == 1;
}

std::string_view without_brackets(std::string_view text) {
  const bool has = text.size() > 2 && text.front() == '[' && text.back() == ']';
  return has ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string checked_address(std::string_view variable, std::string_view text,
                            std::string_view port_variable) {
  const std::string_view address = without_brackets(text);
  if (is_ipv6(address)) return std::string(address);
  // Reject only unprintable characters, which must not reach messages; resolution checks the rest.
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_printable))
    fail(variable, text, "a host name or an IP address");
  // Names contain no colons, and IPv6 addresses were handled above.
  if (text.find(':') != std::string_view::npos)
    fail(variable, text, "a host name or an IP address, without a port or a scheme", port_variable);
  return std::string(address);
}

NamedEndpoint checked_endpoint(std::string_view variable, std::string_view text) {
  constexpr const char* kExpected = "HOST:PORT";
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && !is_ipv6(text) && text.back() != ']';
  if (!has_port) return {checked_address(variable, text), std::nullopt};
  const auto port = parse_whole_number(text.substr(colon + 1));
  const std::string_view host = text.substr(0, colon);
  // With several colons, the host must be an IPv6 address in brackets.
  const bool is_plain = host.find(':') == std::string_view::npos || host.front() == '[';
  if (!port || *port < 1 || *port > 65535 || !is_plain) fail(variable, text, kExpected);
  return {checked_address(variable, host), static_cast<int>(*port)};
}

}  // namespace hpcboot
