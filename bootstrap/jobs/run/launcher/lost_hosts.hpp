#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hpcboot::run {

// What the parents of the ranks of one host have said to `run`.
struct HostWords {
  std::string host;
  int begun = 0;  // ranks whose parents have come
  int ended = 0;  // and have told how their ranks ended
};

// The hosts that none of the begun ranks has told its end of.
std::vector<std::string> silent_hosts(const std::vector<HostWords>& hosts);

// Those of them that do not answer: a host that is there takes or refuses a connection to its port
// of ssh. A name that cannot be looked up is no answer either way.
std::vector<std::string> dead_hosts(const std::vector<std::string>& hosts,
                                    std::chrono::milliseconds patience);

}  // namespace hpcboot::run
