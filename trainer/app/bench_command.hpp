#pragma once

#include <optional>
#include <string>

#include "app/verbs.hpp"

namespace hpcboot::app {

struct BenchRequest {
  std::string kind;  ///< one of machine::bench_kinds()
  std::string device = "auto";
  std::string backend = "auto";
  double seconds = 0.5;  ///< for each operation
  std::string format = "table";
  std::string plot;  ///< a picture to draw; empty: none
};

options::Command bench_command();

/// @return nothing if the arguments ask for help, which is printed. @throws UsageError
std::optional<BenchRequest> parse_bench(const Arguments& arguments);

}  // namespace hpcboot::app
