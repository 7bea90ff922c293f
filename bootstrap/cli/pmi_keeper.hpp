#pragma once

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

// Once a PMI-1 connection has been used, Hydra takes the end of the process for a crash unless it
// has sent "finalize"; once that is sent, an MPI program that the process execs can no longer
// start. At exec it is unknown whether the program uses MPI. So a second, small process holds the
// connection and sends "finalize" when this process and the program that it becomes have ended; if
// the program's MPI has sent it already, the other side is closed by then.
void keep_pmi_connection(const Env& env);

}  // namespace hpcboot::tool
