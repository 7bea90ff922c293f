#pragma once

#include <string>

#include "plan.hpp"
#include "program_needs.hpp"

namespace hpcboot::run {

struct LauncherChoice {
  Launcher launcher = Launcher::local;
  std::string program;  // its path; empty: this process
  std::string origin;   // why this one, for people
  ProgramMpi needs = ProgramMpi::unknown;
  std::vector<std::string> notes;
};

// --launcher, else the one that belongs where this process is.
// @throws Error{malformed_value} for an unknown name; Error{backend_unavailable} for one that is
//         not here; Error{inconsistent_placement} for one that does not belong here
LauncherChoice choose_launcher(const RunRequest& request, const Surroundings& s,
                               const Layout& layout);

}  // namespace hpcboot::run
