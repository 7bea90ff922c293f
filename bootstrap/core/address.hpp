#pragma once

#include <optional>
#include <string>
#include <string_view>

// Host names and addresses in environment variables.
namespace hpcboot {

// The host name or address in `text`, without the brackets that URLs put around an IPv6 address.
// Rejects characters that occur in no host name or address, ports and schemes; does not check that
// the host exists.
// @throws Error{malformed_value} that names `variable`; for a port, also `port_variable` if it is
// not empty
std::string checked_address(std::string_view variable, std::string_view text,
                            std::string_view port_variable = {});

struct NamedEndpoint {
  std::string host;
  std::optional<int> port;
};

// "host", "host:port", "fd00::1", "[fd00::1]:port".
// @throws Error{malformed_value}
NamedEndpoint checked_endpoint(std::string_view variable, std::string_view text);

}  // namespace hpcboot
