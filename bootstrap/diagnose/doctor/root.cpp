#include "checks.hpp"
#include "mpi_family.hpp"

namespace hpcboot::doctor {
namespace {

// https://docs.open-mpi.org/en/v5.0.x/launching-apps/quickstart.html: both of them, or the option
// --allow-run-as-root. PRRTE, which Open MPI 5 uses, has names of its own besides.
bool may_run_as_root(const Env& env) {
  const auto has_both = [&env](const char* allow, const char* confirm) {
    return env.text(allow) == "1" && env.text(confirm) == "1";
  };
  return has_both("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") ||
         has_both("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM");
}

}  // namespace

void check_root(const Situation& s, Findings& findings) {
  if (!s.system.is_root.value_or(false) || !s.system.mpirun) return;
  // It has started this very process.
  if (s.resolution && s.resolution->launcher == "openmpi") return;
  const Mpi family = family_of_mpirun(*s.system.mpirun);
  if (family != Mpi::open_mpi_4 && family != Mpi::open_mpi_5) return;
  if (may_run_as_root(s.env)) {
    findings.ok("root", "OMPI_ALLOW_RUN_AS_ROOT lets mpirun run as root");
    return;
  }
  findings.warning("root", "you are root, and Open MPI's mpirun refuses to run as root",
                   "use another account; in a container: export OMPI_ALLOW_RUN_AS_ROOT=1 "
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
}

}  // namespace hpcboot::doctor
