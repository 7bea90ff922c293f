#pragma once

#include <string>

#include "plan.hpp"
#include "program_needs.hpp"

namespace hpcboot::run {

struct LauncherChoice {
  Launcher launcher = Launcher::local;
  std::string program;  // its path; empty: this process
  std::string origin;   // why this one, for users
  ProgramMpi needs = ProgramMpi::unknown;
  std::vector<std::string> notes;
};

// The launcher of --launcher, otherwise the appropriate one for this environment.
// @throws Error{malformed_value} for an unknown name; Error{backend_unavailable} if it is not
//         installed; Error{inconsistent_placement} if it does not fit here
LauncherChoice choose_launcher(const RunRequest& request, const Surroundings& s,
                               const Layout& layout);

}  // namespace hpcboot::run
