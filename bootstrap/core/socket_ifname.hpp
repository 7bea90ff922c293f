#pragma once

#include <string_view>

namespace hpcboot {

// The variables that tell communication libraries which interfaces to use.
constexpr const char* kInterfaceVariables[] = {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"};

// Does the value of one of them select this interface? Gloo: exact names, "eth0,eth1". NCCL:
// prefixes; "=eth0" is exact, "^docker" excludes, "eth0:1" has a port; lists are allowed.
inline bool names_interface(std::string_view variable, std::string_view value,
                            std::string_view interface) {
  const bool is_nccl = variable == kInterfaceVariables[1];
  const auto take = [&](char sign) {
    const bool is_there = is_nccl && !value.empty() && value.front() == sign;
    if (is_there) value.remove_prefix(1);
    return is_there;
  };
  const bool leaves_out = take('^');
  const bool is_exact = take('=') || !is_nccl;
  while (true) {
    const std::size_t end = value.find(',');
    const std::string_view entry = value.substr(0, end);
    const std::string_view name = is_nccl ? entry.substr(0, entry.find(':')) : entry;
    const bool fits = is_exact ? interface == name : interface.substr(0, name.size()) == name;
    if (!name.empty() && fits) return !leaves_out;
    if (end == std::string_view::npos) return leaves_out;
    value.remove_prefix(end + 1);
  }
}

}  // namespace hpcboot
