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

// The environment that --env-file names, else that of this process. Call it only once: the file may
// be a pipe.
Env env_as_asked(const po::variables_map& options);

// The resolution of env_as_asked() with these options. With --env-file nothing is taken from this
// machine.
Resolution resolve_as_asked(const Env& env, const po::variables_map& options);

// The same for an environment that may not resolve; nothing is examined on this machine yet.
Situation situation_as_asked(const po::variables_map& options);

}  // namespace hpcboot::tool
