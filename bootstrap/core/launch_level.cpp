#include "hpcboot/launch_source.hpp"

namespace hpcboot {

std::string_view name_of(Level level) noexcept {
  switch (level) {
    case Level::explicit_settings:
      return "explicit settings";
    case Level::elastic_agent:
      return "elastic agent";
    case Level::mpi_launcher:
      return "MPI launcher";
    case Level::scheduler_step:
      return "scheduler's step";
    case Level::pod:
      return "pod";
    case Level::generic:
      return "generic";
    case Level::library:
      return "library";
    case Level::remote_shell:
      return "remote shell";
  }
  return "";
}

}  // namespace hpcboot
