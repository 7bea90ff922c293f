#include "checks.hpp"

namespace hpcboot::doctor {
namespace {

// Whether the environment says where rank 0 is, so that no exchange is needed.
bool has_endpoint(const Situation& s) {
  return s.resolution && s.resolution->master_addr && s.resolution->master_port;
}

bool has_peers(const Situation& s) {
  if (s.resolution) return s.resolution->placement.world_size > 1;
  return s.error->code() == ErrorCode::needs_exchange;
}

}  // namespace

void check_kvs(const Situation& s, Findings& findings) {
  if (!s.system.kvs || !has_peers(s)) return;
  const std::string& kind = *s.system.kvs;
  const bool is_needed = !has_endpoint(s);
  const std::string endpoint = "the environment says where rank 0 is";
  if (s.system.kvs_error) {
    const Error& error = *s.system.kvs_error;
    if (is_needed) {
      findings.problem("exchange", error.found(), error.remedy());
    } else {
      findings.note("exchange", error.found() + "; " + endpoint,
                    "no action needed while that holds");
    }
  } else if (kind.empty() && is_needed) {
    findings.problem("exchange",
                     "the environment does not say where rank 0 listens, and the ranks have no way "
                     "to exchange it",
                     "on every rank, set HPCBOOT_EXCHANGE_DIR to a folder that all hosts share, or "
                     "set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
  } else if (kind.empty()) {
    findings.ok("exchange", "none is offered or needed: " + endpoint);
  } else if (kind == "pmi2" && is_needed) {
    findings.warning(
        "exchange",
        s.system.kvs_library + ", which a process can use only once: hpcboot exec cannot use it",
        "use srun --mpi=pmix, or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
  } else {
    findings.ok("exchange", s.system.kvs_library + (is_needed ? "" : "; " + endpoint));
  }
}

}  // namespace hpcboot::doctor
