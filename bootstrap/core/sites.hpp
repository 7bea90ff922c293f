#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

// What sites say of their machines and no environment tells: the names of hosts on the fast
// network, the order of devices. A machine is recognised by one variable that it sets in every job;
// HPCBOOT_HOST_SUFFIX and HPCBOOT_DEVICE_ORDER say the same for any other, and go before it.
namespace hpcboot {

struct SiteRule {
  std::string value;   // "i", "reverse"
  std::string origin;  // "polaris, by PBS_JOBID" or "HPCBOOT_HOST_SUFFIX"
};

// What turns the name of a host into its name on the network between the hosts. nullopt where there
// is no such rule, also by HPCBOOT_HOST_SUFFIX=none.
// @throws Error{malformed_value} where no host name could end so
std::optional<SiteRule> host_suffix(const Env& env);

// The order in which local ranks take devices, as HPCBOOT_DEVICE_ORDER has it. Not checked yet.
std::optional<SiteRule> device_order(const Env& env);

// "n1" and "i": "n1i"; "n1.cluster" and "i": "n1i.cluster"; "n1.mgmt" and ".hsn.site":
// "n1.hsn.site". An address stays as it is.
std::string with_suffix(std::string_view host, std::string_view suffix);

}  // namespace hpcboot
