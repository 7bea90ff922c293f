#pragma once

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

// After a PMI-1 connection was used, Hydra takes the end of the process for a crash unless it has
// said "finalize"; once said, an MPI program that the process execs can no longer begin. Which of
// the two is to come nobody knows at exec. So a second, small process holds the connection, and
// says it when this process and the program that it becomes have ended; where the program's MPI has
// said so itself, the other side is closed already.
void keep_pmi_connection(const Env& env);

}  // namespace hpcboot::tool
