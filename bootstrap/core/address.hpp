#pragma once

#include <optional>
#include <string>
#include <string_view>

// Host names and addresses as variables of the environment have them.
namespace hpcboot {

// The host name or address in `text`, without the brackets that URLs put around an IPv6 address.
// Not whether there is such a host: what no name and no address has in it is refused, and so are a
// port and a scheme.
// @throws Error{malformed_value} that names `variable`, and `port_variable` for a port, if not
// empty
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
