#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// What the environment of a process says of the PMIx server that serves it.
namespace hpcboot {

// Where libpmix may be, best first: of the launcher, as far as it names its folders, since a server
// may not understand an older client; last "libpmix.so.2", the machine's.
std::vector<std::string> pmix_library_names(const Env& env);

// Is it Open MPI 4's own PMIx 3? On several hosts it does not answer the second PMIx client of a
// process, and MPI_Init hangs.
bool answers_one_client(const Env& env);

}  // namespace hpcboot
