#pragma once

#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "hpcboot/torch/estimate.hpp"
#include "json/bounded_json.hpp"
#include "text/table.hpp"

namespace hpcboot::estimate {

/// What `trainer estimate` prints.
struct Report {
  Model model;
  Types types;
  std::string optimizer;
  Machine machine;
  bool is_search = false;   ///< else one plan, which was asked for
  std::vector<Plan> plans;  ///< of a search: those that fit, the fastest first
};

Json to_json(const Report& report);
Encoded to_text(const Report& report, const Look& look);

}  // namespace hpcboot::estimate
