#include "plan.hpp"

namespace hpcboot::run {

const char* name_of(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::local:
      return "local";
    case Launcher::ssh:
      return "ssh";
    case Launcher::qrsh:
      return "qrsh";
    case Launcher::blaunch:
      return "blaunch";
    case Launcher::srun:
      return "srun";
    case Launcher::openmpi:
      return "mpirun (Open MPI)";
    case Launcher::hydra:
      return "mpirun (Hydra)";
    case Launcher::pals:
      return "mpiexec (PALS)";
    case Launcher::flux:
      return "flux run";
    case Launcher::jsrun:
      return "jsrun";
  }
  return "unknown";
}

bool has_agents(Launcher launcher) noexcept {
  return launcher == Launcher::local || launcher == Launcher::ssh || launcher == Launcher::qrsh ||
         launcher == Launcher::blaunch;
}

}  // namespace hpcboot::run
