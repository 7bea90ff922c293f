#include "launchers.hpp"

// PMIX_RANK and PMIX_NAMESPACE are all that a bare PMIx server (prterun) sets: size and local rank
// are known to the server only, so that an exchange has to ask it.
namespace hpcboot::sources {
namespace {

Detection detect(const Env& env, const Facts&) {
  return detect_any(env, {"PMIX_RANK", "PMIX_NAMESPACE"});
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "PMIX_RANK", "prterun");
  facts.identity = env.text("PMIX_NAMESPACE").value_or("");
  return facts;
}

}  // namespace

const LaunchSource kPmix{"pmix", Level::library,
                         "mpirun and srun set it beside variables that say more", detect, read};

}  // namespace hpcboot::sources
