#pragma once

#include <string>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// One process of a captured job. Its files in the folder are as follows; NAME is "rank3" or, if
/// the rank was unknown, "host-pid":
///   NAME.env         the redacted environment, as `printenv` or `env -0` would print it
///   NAME.hostname    the host's own name
///   NAME.facts.json  interfaces and other members of Facts (json/facts_json.hpp); may be absent
///   NAME.nodefile    the scheduler's list of hosts; may be absent, or `nodefile` for all ranks
///   NAME.apinfo      the file of PALS_APINFO; may be absent, or `apinfo` for all ranks
struct CapturedRank {
  Env env;
  Facts facts;             ///< unknown if the files do not contain them; never this machine's
  ResolveOptions options;  ///< reads only the captured nodefile
};

/// Names of the processes in the folder: ranks by number, then the others.
/// @throws Error{unreadable_file} if there is no such folder, or it contains no captured process.
std::vector<std::string> list_capture(const std::string& folder);

/// @throws Error{unreadable_file} if a required file is missing, as after an interrupted capture;
/// Error{malformed_file} for facts that are not valid JSON of the expected form.
CapturedRank read_captured_rank(const std::string& folder, const std::string& name);

}  // namespace hpcboot
