#include "launchers.hpp"

// A bare PMIx server (prterun) sets only PMIX_RANK and PMIX_NAMESPACE: an exchange must ask the
// server for size and local rank.
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"PMIX_RANK", kIdentity, kRequired},
    {"PMIX_NAMESPACE", kHandle, kUsed},
    {"PMIX_ID", kIdentity},
    {"PMIX_HOSTNAME", kCompanion},
    {"PMIX_VERSION", kCompanion},
    {"PMIX_SERVER_*", kHandle},
    {"PMIX_DSTORE_*", kHandle},
    {"PMIX_GDS_MODULE", kCompanion},
    {"PMIX_BFROP_BUFFER_TYPE", kCompanion},
    {"PMIX_SECURITY_MODE", kCompanion},
    {"PMIX_SYSTEM_TMPDIR", kHandle},
    {"PMIX_PTL_MODULE", kCompanion},
    {"PMIX_PARENT_ID", kHandle},
    {"PMIX_REINCARNATION", kCompanion},
    {"PMIX_KEEPALIVE_PIPE", kHandle},
    // A number, which its name would class as a password
    {"PMIX_PARAM_FILE_PASSED", kCompanion},
    {"PMIX_LAUNCHER_*", kHandle},
    {"PMIX_*", kSetting},
};

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

const LaunchSource kPmix{"pmix",
                         Level::library,
                         "mpirun and srun set it along with more specific variables",
                         "prterun",
                         "https://docs.openpmix.org/",
                         kVariables,
                         "all but the rank",
                         {},
                         detect,
                         read};

}  // namespace hpcboot::sources
