#include "refusal.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot {

void refuse(const Claim& damaged, const std::vector<Claim>& claims) {
  try {
    std::rethrow_exception(damaged.damage);
  } catch (const Error& error) {
    // Missing or contradictory variables may belong to another launch; malformed ones must be
    // corrected.
    if (error.code() != ErrorCode::missing_variable &&
        error.code() != ErrorCode::inconsistent_placement)
      throw;
    std::string advice;
    for (const Claim& other : claims) {
      const LaunchFacts& said = other.facts;
      if (other.damage || !said.rank || !said.world_size || !said.local_rank) continue;
      advice += std::string(advice.empty() ? "" : " or") +
                " HPCBOOT_METHODS=" + std::string(other.source->name);
    }
    advice = advice.empty() ? "; to run this process alone, set HPCBOOT_METHODS=single"
                            : "; another launcher's environment is complete here: if it started "
                              "this process, set" +
                                  advice;
    throw Error(error.code(), error.found(), error.expected(), error.remedy() + advice);
  }
}

}  // namespace hpcboot
