#include "loop/spinning.hpp"

namespace hpcboot::train {

std::map<std::string, std::string> spinning_limits(const Env& env) {
  std::map<std::string, std::string> limits;
  if (env.has("OMP_WAIT_POLICY")) return limits;
  // On two idle cores as fast as the default of 300,000; at a load of 20, three times as fast.
  if (!env.has("GOMP_SPINCOUNT")) limits["GOMP_SPINCOUNT"] = "5000";  // GCC's runtime: rounds
  if (!env.has("KMP_BLOCKTIME")) limits["KMP_BLOCKTIME"] = "1";  // LLVM's: ms, the default is 200
  return limits;
}

}  // namespace hpcboot::train
