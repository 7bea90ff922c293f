#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::run {

// The output of several ranks on one stream: whole lines, each with its rank's prefix. What stands
// in a line is never changed.
class OutputLines {
 public:
  using Clock = std::chrono::steady_clock;

  // A line that is not ended yet is shown when nothing has come for this long: a prompt.
  static constexpr std::chrono::milliseconds kPatience{200};
  // A line that is longer is shown in parts.
  static constexpr std::size_t kLongest = std::size_t{64} << 10U;

  // @param prefixes of the sources, by number; a source without one has none
  explicit OutputLines(std::map<int, std::string> prefixes) : prefixes_(std::move(prefixes)) {}

  // What has to be written now that `bytes` came from `source`.
  std::string take(int source, std::string_view bytes, Clock::time_point now);
  // … now that no more will come from it.
  std::string finish(int source);
  // … now that it is `now`: lines that have waited for their end.
  std::string show_waiting(Clock::time_point now);
  // When show_waiting() will have something.
  std::optional<Clock::time_point> next_time() const;

 private:
  struct Waiting {
    std::string text;
    Clock::time_point since;
  };
  void show(int source, std::string_view text, std::string& to);

  std::map<int, std::string> prefixes_;
  std::map<int, Waiting> waiting_;  // never with a line end in it, nor empty
  std::optional<int> open_;         // the source of the line that is shown and not ended
};

// The last lines of a stream, for a message about its end.
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
