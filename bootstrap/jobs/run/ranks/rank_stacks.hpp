#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "debuggers.hpp"
#include "event_loop.hpp"
#include "rank_child.hpp"

namespace hpcboot::run {

// Writes the stacks of one rank's processes, one after the other, with the debuggers of this host.
// A process to which none can attach gets SIGQUIT at the end: Python's faulthandler and Java print
// their stacks then; others terminate.
class RankStacks {
 public:
  using Write = std::function<void(const std::string& lines)>;

  // @param rank its name, for users: "rank 3 on n2"
  // @param env its environment
  // @param write gets whole lines, safe for a terminal
  RankStacks(std::string rank, pid_t program, const std::map<std::string, std::string>& env,
             Write write);

  bool is_done() const { return is_done_; }
  // The running debugger, which is reaped here.
  std::optional<pid_t> child() const;

  void add_to(PollSet& set) const;
  void handle(const PollSet& set);
  // When handle() must be called next, even without an event.
  Clock::time_point next_time() const;

 private:
  void start_next();
  bool start(const Debugger& debugger);
  void read_output();
  void take_output(bool is_late);
  void go_on();
  void finish();

  std::string rank_;
  pid_t program_;
  std::map<std::string, std::string> env_;
  Write write_;
  Clock::time_point until_;
  std::deque<pid_t> processes_;  // still to do; the first one is in progress
  std::size_t most_lines_;       // per process
  std::deque<Debugger> debuggers_;
  std::string title_;       // of the first one
  bool has_begun_ = false;  // for the first process
  std::string used_;        // the running debugger
  std::optional<RankChild> debugger_;
  Clock::time_point debugger_until_;
  std::string output_;
  std::string errors_;
  std::string last_reason_;  // why the last debugger failed
  std::vector<pid_t> unseen_;
  std::optional<Clock::time_point> quit_until_;
  bool is_done_ = false;
};

}  // namespace hpcboot::run
