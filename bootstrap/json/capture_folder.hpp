#pragma once

#include <string>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// One process of a captured job. Its files in the folder are, with NAME for "rank3" or, where the
/// rank was not known, "host-pid":
///   NAME.env         the redacted environment, as `printenv` or `env -0` would print it
///   NAME.hostname    the host's own name
///   NAME.facts.json  interfaces and what else Facts holds (json/facts_json.hpp); may be absent
///   NAME.nodefile    the scheduler's list of hosts; may be absent, or `nodefile` for all ranks
///   NAME.apinfo      the file of PALS_APINFO; may be absent, or `apinfo` for all ranks
struct CapturedRank {
  Env env;
  Facts facts;             ///< unknown where the files do not say; never this machine's
  ResolveOptions options;  ///< reads no file but the captured nodefile
};

/// Names of the processes in the folder: ranks by number, then the others.
/// @throws Error{unreadable_file} where there is no such folder, or none in it.
std::vector<std::string> list_capture(const std::string& folder);

/// @throws Error{unreadable_file} where a file that is needed is missing, as after a capture that
/// was cut off; Error{malformed_file} for facts that are not JSON of their form.
CapturedRank read_captured_rank(const std::string& folder, const std::string& name);

}  // namespace hpcboot
