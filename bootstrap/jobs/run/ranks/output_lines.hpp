#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::run {

// The output of several ranks on one stream: whole lines, each with its rank's prefix. The content
// of a line is never changed.
class OutputLines {
 public:
  using Clock = std::chrono::steady_clock;

  // How long an unfinished line, such as a prompt or a progress bar, may wait for its end: it is
  // for people. In a file, it would tear the lines of a program that writes in blocks.
  static constexpr std::chrono::milliseconds kPatience{200};
  // A longer line is shown in parts.
  static constexpr std::size_t kLongest = std::size_t{64} << 10U;

  // @param prefixes of the sources, by number; sources not listed have no prefix
  // @param whole no unfinished line is shown, however long it waits, but what a carriage return
  //        in it has ended
  explicit OutputLines(std::map<int, std::string> prefixes, bool whole = false)
      : prefixes_(std::move(prefixes)), whole_(whole) {}

  // What must be written now that `bytes` arrived from `source`.
  std::string take(int source, std::string_view bytes, Clock::time_point now);
  // … now that `source` has ended.
  std::string finish(int source);
  // … at time `now`: unfinished lines that have waited long enough.
  std::string show_waiting(Clock::time_point now);
  // When show_waiting() must be called next.
  std::optional<Clock::time_point> next_time() const;

 private:
  struct Waiting {
    std::string text;
    std::size_t ready = 0;    // bytes of it that may be shown before the line ends
    Clock::time_point since;  // when these began to wait
  };
  std::size_t ready_of(std::string_view text) const;
  void show(int source, std::string_view text, std::string& to);

  std::map<int, std::string> prefixes_;
  bool whole_;
  std::map<int, Waiting> waiting_;  // without line ends, never empty
  std::optional<int> open_;         // the source of the unfinished line that is shown
};

// The last lines of a stream, for a message about a rank's end.
class LastLines {
 public:
  static constexpr std::size_t kCount = 10;

  void take(std::string_view bytes);
  bool is_in_line() const { return !text_.empty() && text_.back() != '\n'; }
  std::vector<std::string> lines() const;

 private:
  std::string text_;
};

}  // namespace hpcboot::run
