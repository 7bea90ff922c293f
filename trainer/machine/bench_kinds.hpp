#pragma once

#include <string>
#include <vector>

namespace hpcboot::machine {

/// A bench that users can choose.
struct BenchKind {
  std::string name;
  std::string about;  ///< a clause
};

const std::vector<BenchKind>& bench_kinds();

}  // namespace hpcboot::machine
