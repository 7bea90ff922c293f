#include "limits.hpp"

namespace hpcboot::queue {

void require_at_most(std::vector<LimitProblem>& problems, const std::string& what, long asked,
                     long limit, const std::string& source, const std::string& remedy) {
  if (limit <= 0 || asked <= limit) return;
  problems.push_back({std::to_string(asked) + " " + what,
                      "at most " + std::to_string(limit) + " (" + source + ")", remedy});
}

}  // namespace hpcboot::queue
