#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hpcboot::run {

// What the rank parents of one host have reported to `run`.
struct HostWords {
  std::string host;
  int begun = 0;  // ranks whose parents have connected
  int ended = 0;  // ranks whose end was reported
};

// The hosts with started ranks, none of which was reported as ended.
std::vector<std::string> silent_hosts(const std::vector<HostWords>& hosts);

// Those of them that do not answer: a live host accepts or refuses a connection to its ssh port. A
// name that does not resolve proves nothing.
std::vector<std::string> dead_hosts(const std::vector<std::string>& hosts,
                                    std::chrono::milliseconds patience);

}  // namespace hpcboot::run
