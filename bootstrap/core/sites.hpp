#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

// Facts about machines that sites document but no environment shows: host names on the fast
// network, device order. A machine is recognised by a variable that it sets in every job;
// HPCBOOT_HOST_SUFFIX and HPCBOOT_DEVICE_ORDER set the same for any machine, and take precedence.
namespace hpcboot {

struct SiteRule {
  std::string value;   // "i", "reverse"
  std::string origin;  // "polaris, by PBS_JOBID" or "HPCBOOT_HOST_SUFFIX"
};

// The suffix that turns a host name into its name on the network between hosts. nullopt without
// such a rule, or with HPCBOOT_HOST_SUFFIX=none.
// @throws Error{malformed_value} if no host name can end in it
std::optional<SiteRule> host_suffix(const Env& env);

// The order in which local ranks take devices, in the form of HPCBOOT_DEVICE_ORDER. Not validated
// yet.
std::optional<SiteRule> device_order(const Env& env);

// "n1" and "i": "n1i"; "n1.cluster" and "i": "n1i.cluster"; "n1.mgmt" and ".hsn.site":
// "n1.hsn.site". An address stays as it is.
std::string with_suffix(std::string_view host, std::string_view suffix);

}  // namespace hpcboot
