#pragma once

#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// How a rank ended.
struct RankEnd {
  int rank = 0;
  std::string host;
  int process_id = 0;
  int exit_code = 0;                    // in the shell's form: 128 + n after signal n
  int signal = 0;                       // signal that ended it; 0: none
  std::vector<std::string> last_lines;  // of its standard error, otherwise its output
  bool was_told = false;                // told to end: then it is not a first failure
  // SIGKILL ended it, and in the meantime the kernel of its host reported an out-of-memory kill.
  bool is_out_of_memory = false;

  bool is_failure() const { return exit_code != 0; }
  // By its exit code: the progress is saved.
  bool has_stopped_in_order() const { return exit_code == static_cast<int>(ErrorCode::stopped); }
};

// "rank 3 of 8 on n2 (pid 4711) failed first: signal 9 (Killed)", with its last lines below, or "…
// stopped cleanly: exit code 46": the last message of `hpcboot run` on standard error.
void print_first_failure(Terminal& err, const RankEnd& end, int world_size);

}  // namespace hpcboot::run
