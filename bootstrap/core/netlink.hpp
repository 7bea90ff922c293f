#pragma once

#include <optional>
#include <vector>

#include "hpcboot/facts.hpp"

namespace hpcboot {

struct KernelNetwork {
  std::vector<Interface> interfaces;  // without speed_mbps and has_device, which only sysfs has
  std::optional<std::vector<Route>> routes;
};

// The addresses, links and routes of this network namespace, one dump of each table; nullopt if the
// kernel does not answer.
std::optional<KernelNetwork> ask_kernel_for_network();

}  // namespace hpcboot
