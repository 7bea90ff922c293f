#include "refusal.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

bool is_whole(const LaunchSource& source, const Env& env, const Facts& facts) {
  try {
    const LaunchFacts said = source.read(env, facts);
    return said.rank && said.world_size && said.local_rank;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

LaunchFacts read_or_advise(const LaunchSource& source,
                           const std::vector<const LaunchSource*>& present, const Env& env,
                           const Facts& facts) {
  try {
    return source.read(env, facts);
  } catch (const Error& error) {
    // Only what is missing or contradicts itself may be another launch's; what is malformed is to
    // be corrected.
    if (error.code() != ErrorCode::missing_variable &&
        error.code() != ErrorCode::inconsistent_placement)
      throw;
    std::string advice;
    for (const LaunchSource* other : present) {
      if (other == &source || !is_whole(*other, env, facts)) continue;
      advice +=
          std::string(advice.empty() ? "" : " or") + " HPCBOOT_METHODS=" + std::string(other->name);
    }
    advice = advice.empty() ? "; if this process is to run alone, set HPCBOOT_METHODS=single"
                            : "; another launcher's environment is complete here: if it started "
                              "this process, set" +
                                  advice;
    throw Error(error.code(), error.found(), error.expected(), error.remedy() + advice);
  }
}

}  // namespace hpcboot
