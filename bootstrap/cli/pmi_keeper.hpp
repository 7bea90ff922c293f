#pragma once

#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

// Does the launcher end the job where a rank ends that has used PMI-1 and not said "finalize"? All
// but Flux may. Its shell is content with the end, and cannot answer a word that comes after it:
// that is a "PMI-1 wire protocol error", and ends the job (flux-core 0.27 and later, shell/pmi.c).
bool takes_silence_for_a_crash(std::string_view launcher);

// After a PMI-1 connection was used, Hydra takes the end of the process for a crash unless it has
// said "finalize"; once said, an MPI program that the process execs can no longer begin. Which of
// the two is to come nobody knows at exec. So a second, small process holds the connection, and
// says it when this process and the program that it becomes have ended; where the program's MPI has
// said so itself, the other side is closed already.
void keep_pmi_connection(const Env& env);

}  // namespace hpcboot::tool
