#pragma once

#include <string>
#include <vector>

#include "plots/run_data.hpp"

namespace hpcboot::plots {

/// Runs that repeat each other: the same work on the same devices by the same method, with the same
/// settings but for the seed.
struct RunGroup {
  std::string name;  ///< "DDP 2x4 (3)", with the number of runs, and what differs between groups
  std::vector<RunData> runs;
};

/// In the order of training, samples, devices, nodes and method.
std::vector<RunGroup> groups_of(const std::vector<RunData>& runs);

}  // namespace hpcboot::plots
