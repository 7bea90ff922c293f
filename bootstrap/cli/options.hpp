#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "hpcboot/doctor.hpp"
#include "hpcboot/resolve.hpp"
#include "text/format.hpp"
#include "text/terminal.hpp"
#include "verbs.hpp"

namespace hpcboot::tool {

// Parses the arguments of one verb. On --help prints `synopsis` and the options to stdout, on
// --version the version, and returns nullopt. @throws UsageError
std::optional<boost::program_options::variables_map> parse(
    const Arguments& arguments, const std::string& synopsis,
    boost::program_options::options_description options,
    const boost::program_options::options_description& hidden = {},
    const boost::program_options::positional_options_description& positional = {});

// --env-file, --nodefile and --hostname: an environment other than this process's.
boost::program_options::options_description environment_options();

// The environment that --env-file names, else that of this process. To be asked once: the file may
// be a pipe.
Env env_as_asked(const boost::program_options::variables_map& options);

// The resolution that these options ask for, of env_as_asked(). With --env-file nothing is taken
// from this machine.
Resolution resolve_as_asked(const Env& env, const boost::program_options::variables_map& options);

// The same for what may not resolve; nothing is looked up on this machine yet.
Situation situation_as_asked(const boost::program_options::variables_map& options);

}  // namespace hpcboot::tool
