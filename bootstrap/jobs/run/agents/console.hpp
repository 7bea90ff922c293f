#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/run/plan/plan.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/out_stream.hpp"
#include "jobs/run/ranks/output_lines.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// "[3 n2] " for each rank, all of one width.
std::vector<std::string> rank_prefixes(const Layout& layout);

// What `hpcboot run` prints: the ranks' output, with its own messages between their lines.
class Console {
 public:
  // @param prefix whether lines of ranks get a prefix on a terminal
  Console(const Layout& layout, bool prefix);

  void show(int rank, bool is_error, std::string_view bytes);
  void finish(int rank);
  // A message of `hpcboot run` itself, written by `write(Terminal&)`.
  template <typename Write>
  void say(const Write& write) {
    std::ostringstream text;
    Terminal terminal(text);
    write(terminal);
    terminal.flush();
    say_lines(text.str());
  }

  // Is there room for more output? Its reader may be slow.
  bool has_room() const;
  bool is_written() const { return out_.unwritten() == 0 && err_.unwritten() == 0; }
  // errno if standard output can no longer be written; 0: it can
  int out_error() const { return out_.error(); }
  // Bytes that readers have taken.
  std::uint64_t written() const { return out_.written() + err_.written(); }
  // Drops all output: slow readers are no longer waited for.
  void discard();
  // Drops that of the streams on which some is unwritten.
  void drop_waiting();

  void add_to(PollSet& set) const;
  void flush();
  std::optional<Clock::time_point> next_time() const;

 private:
  void say_lines(std::string_view lines);
  OutStream& stream(bool is_error) { return is_error && !is_one_terminal_ ? err_ : out_; }
  OutputLines& lines(bool is_error) {
    return is_error && !is_one_terminal_ ? err_lines_ : out_lines_;
  }

  OutStream out_;
  OutStream err_;
  bool is_one_terminal_;  // both: a line of one must not continue one of the other
  OutputLines out_lines_;
  OutputLines err_lines_;
};

}  // namespace hpcboot::run
