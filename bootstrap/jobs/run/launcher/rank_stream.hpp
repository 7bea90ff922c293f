#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/out_stream.hpp"
#include "jobs/run/ranks/output_lines.hpp"
#include "jobs/run/ranks/rank_log.hpp"
#include "rank_parent.hpp"

namespace hpcboot::run {

// One stream of a rank's program, forwarded to the launcher and to a log file.
class RankStream {
 public:
  RankStream(const RankStart& start, const char* ending, int to);

  // @return whether more may be available now
  bool pump(int from);
  // Adds lines of this process.
  void add(const std::string& lines);

  void add_to(PollSet& set, int from) const;
  void flush();
  void discard() { to_.discard(); }
  bool has_ended() const { return has_ended_; }
  bool is_written() const { return to_.unwritten() == 0; }
  std::optional<Clock::time_point> next_time() const { return lines_.next_time(); }
  std::vector<std::string> last_lines() const { return last_.lines(); }
  // Has the program written something since the last call, or is it blocked by a slow reader?
  bool take_sign();

 private:
  bool is_full() const;
  void take(std::string_view bytes);
  void keep(std::string_view bytes);

  OutputLines lines_;
  OutStream to_;
  Terminal* own_words_;
  std::optional<RankLog> log_;
  LastLines last_;
  bool has_ended_ = false;
  bool has_sign_ = false;
};

}  // namespace hpcboot::run
