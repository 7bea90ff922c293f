#include "rank_end.hpp"

#include <cstring>

namespace hpcboot::run {

void print_first_failure(Terminal& err, const RankEnd& end, int world_size) {
  err << "hpcboot run: rank " << end.rank << " of " << world_size << " on " << end.host;
  if (end.process_id > 0) err << " (pid " << end.process_id << ")";
  if (end.has_stopped_in_order()) {
    err << " stopped cleanly: exit code " << end.exit_code << "\n";
    return;
  }
  err << " failed first: ";
  if (end.signal != 0) {
    err << "signal " << end.signal << " (" << strsignal(end.signal) << ")";
    if (end.is_out_of_memory) err << ", out of memory according to the kernel of that host";
  } else {
    err << "exit code " << end.exit_code;
  }
  if (!end.last_lines.empty()) err << "; last lines:";
  err << "\n";
  for (const std::string& line : end.last_lines) err << "  " << terminal_lines(line + "\n");
}

}  // namespace hpcboot::run
