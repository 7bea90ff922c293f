#include <algorithm>

#include "checks.hpp"
#include "core/major_version.hpp"
#include "rendezvous/pmix_server.hpp"

namespace hpcboot::doctor {
namespace {

// Newest first: a server exports its address once for each form that it supports.
struct Uri {
  const char* variable;
  const char* version;
};
constexpr Uri kUris[] = {{"PMIX_SERVER_URI41", "4.1 or newer"},
                         {"PMIX_SERVER_URI4", "4.0"},
                         {"PMIX_SERVER_URI3", "3"},
                         {"PMIX_SERVER_URI21", "2.1"},
                         {"PMIX_SERVER_URI2", "2.0"}};

// "3.2.5a1"; empty if the environment does not say.
std::string server_version(const Env& env) {
  if (const auto version = env.text("PMIX_VERSION")) return std::string(version->substr(0, 32));
  const auto* const uri = std::find_if(std::begin(kUris), std::end(kUris),
                                       [&env](const Uri& u) { return env.has(u.variable); });
  return uri == std::end(kUris) ? "" : uri->version;
}

bool is_served(const Situation& s) {
  if (s.system.kvs) return *s.system.kvs == "pmix";
  // Hydra runs no PMIx server: its ranks inherit the variables of an outer launch.
  return s.env.has("PMIX_NAMESPACE") && s.env.has("PMIX_RANK") &&
         !(s.resolution && s.resolution->launcher == "hydra");
}

// "OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)"; empty if unknown.
std::string library_of(const Situation& s) {
  constexpr std::string_view kKind = "pmix: ";
  const std::string& text = s.system.kvs_library;
  return text.rfind(kKind, 0) == 0 ? text.substr(kKind.size()) : "";
}

bool has_ranks_elsewhere(const Situation& s) {
  if (!s.resolution) return false;
  const Placement& p = s.resolution->placement;
  return p.local_size && *p.local_size < p.world_size;
}

}  // namespace

void check_pmix(const Situation& s, Findings& findings) {
  if (!is_served(s)) return;
  const std::string version = server_version(s.env);
  if (version.empty()) return;
  const std::string library = library_of(s);
  const auto loaded = major_version(library);
  const std::string server = "the server is PMIx " + version;
  if (answers_one_client(s.env) && has_ranks_elsewhere(s)) {
    findings.note("pmix",
                  server +
                      ", Open MPI 4's own: on several hosts MPI_Init hangs if the process was a "
                      "PMIx client before",
                  "no action needed under hpcboot exec, which does not use PMIx here; other "
                  "programs must call MPI_Init first");
  } else if (loaded && loaded < major_version(version)) {
    const auto prefix = s.env.text("PMIX_PREFIX");
    findings.warning("pmix",
                     server + ", newer than the library, " + library +
                         ": the server may print PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER" +
                         (prefix ? "; PMIX_PREFIX=" + std::string(prefix->substr(0, 256)) +
                                       " has no libpmix.so.2 that can be loaded"
                                 : ""),
                     "on every host, export PMIX_PREFIX=DIR, where DIR/lib/libpmix.so.2 is the "
                     "launcher's library");
  } else {
    findings.ok("pmix", server + (library.empty() ? "" : ", the library " + library));
  }
}

}  // namespace hpcboot::doctor
