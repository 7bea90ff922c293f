#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// What a process's environment reveals about its PMIx server.
namespace hpcboot {

// Where libpmix may be found, best first: the launcher's own, if it names its folders, since a
// server may not support an older client; last the machine's "libpmix.so.2".
std::vector<std::string> pmix_library_names(const Env& env);

// Is it the PMIx 3 embedded in Open MPI 4? On several hosts, it does not answer a second PMIx
// client in one process, and MPI_Init hangs.
bool answers_one_client(const Env& env);

}  // namespace hpcboot
