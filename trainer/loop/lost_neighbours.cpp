#include "loop/lost_neighbours.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "hpcboot/error.hpp"
#include "text/format.hpp"

namespace hpcboot::train {
namespace {

// The state of a process: the third and the last field of /proc/PID/stat (proc(5)), after the
// command in parentheses, which may contain anything.
struct State {
  /// Z: ended, but not yet reaped by its parent; T, t: stopped; a space: no such process
  char letter = ' ';
  int wait_status = 0;
};

State state_of(std::int64_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t behind = text.rfind(')');
  State state;
  if (behind == std::string::npos) return state;
  std::istringstream fields(text.substr(behind + 1));
  fields >> state.letter;
  for (std::string field; fields >> field;) state.wait_status = std::atoi(field.c_str());
  return state;
}

std::string how_it_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format(", killed by signal {}", WTERMSIG(wait_status));
  const int code = WEXITSTATUS(wait_status);
  if (code == 0) return {};
  const bool followed = code == static_cast<int>(ErrorCode::peer_lost) ||
                        code == static_cast<int>(ErrorCode::deadline_exceeded);
  return fmt::format(", with exit code {}{}", code, followed ? ": it had lost a rank itself" : "");
}

}  // namespace

std::vector<record::RankRecord> neighbours_seen(const std::vector<record::RankRecord>& ranks,
                                                int own) {
  std::vector<record::RankRecord> seen;
  const auto me = std::find_if(ranks.begin(), ranks.end(),
                               [&](const auto& rank) { return rank.placement.rank == own; });
  if (me == ranks.end()) return seen;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(seen), [&](const auto& rank) {
    return rank.placement.rank != own && rank.host == me->host && state_of(rank.pid).letter != ' ';
  });
  return seen;
}

std::string lost_neighbours(const std::vector<record::RankRecord>& neighbours, int world_size) {
  Encoded text;
  for (const record::RankRecord& rank : neighbours) {
    const State state = state_of(rank.pid);
    if (state.letter == 'T' || state.letter == 't') {
      text +=
          encoded_format("  rank {} of {} on {} (pid {}) is stopped, by a signal or a debugger\n",
                         rank.placement.rank, world_size, rank.host, rank.pid);
      continue;
    }
    if (state.letter != ' ' && state.letter != 'Z' && state.letter != 'X') continue;
    text += encoded_format("  rank {} of {} on {} (pid {}) has left{}\n", rank.placement.rank,
                           world_size, rank.host, rank.pid, how_it_ended(state.wait_status));
  }
  return text.str();
}

}  // namespace hpcboot::train
