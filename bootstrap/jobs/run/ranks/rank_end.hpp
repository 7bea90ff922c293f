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
  int exit_code = 0;                    // as a shell has it: 128 + n after signal n
  int signal = 0;                       // that ended it; 0: none
  std::vector<std::string> last_lines;  // of its standard error, else its output
  bool was_told = false;                // to end, by whomever: then it is nobody's first failure
  // SIGKILL ended it, and meanwhile the kernel of its host has killed for want of memory.
  bool is_out_of_memory = false;

  bool is_failure() const { return exit_code != 0; }
  // By the exit code that says so: what was reached is saved.
  bool has_stopped_in_order() const { return exit_code == static_cast<int>(ErrorCode::stopped); }
};

// "rank 3 of 8 on n2 (pid 4711) failed first: signal 9 (Killed)", with its last lines below, or
// "… stopped in order: exit code 46": the last words of `hpcboot run` on standard error.
void print_first_failure(Terminal& err, const RankEnd& end, int world_size);

}  // namespace hpcboot::run
