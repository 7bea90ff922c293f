#pragma once

#include "hpcboot/doctor.hpp"
#include "hpcboot/resolve.hpp"
#include "text/format.hpp"
#include "text/terminal.hpp"
#include "verbs.hpp"

namespace hpcboot::tool {

namespace po = options::po;

// --env-file, --nodefile and --hostname: an environment other than this process's.
options::Group environment_options();

// The environment that --env-file names, else that of this process. To be asked once: the file may
// be a pipe.
Env env_as_asked(const po::variables_map& options);

// The resolution that these options ask for, of env_as_asked(). With --env-file nothing is taken
// from this machine.
Resolution resolve_as_asked(const Env& env, const po::variables_map& options);

// The same for what may not resolve; nothing is looked up on this machine yet.
Situation situation_as_asked(const po::variables_map& options);

}  // namespace hpcboot::tool
