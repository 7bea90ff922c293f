#include "rank_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hpcboot::run {
namespace {

// Most output that may wait for its reader; beyond it the program blocks.
constexpr std::size_t kMostUnwritten = std::size_t{1} << 20U;

std::map<int, std::string> prefixes(const RankStart& start) {
  if (!start.prefix) return {};
  const std::size_t width = std::to_string(start.world_size - 1).size();
  std::string number = std::to_string(start.rank);
  number.insert(0, width - std::min(width, number.size()), ' ');
  return {{0, "[" + number + " " + terminal_text(start.host).str() + "] "}};
}

}  // namespace

RankStream::RankStream(const RankStart& start, const char* ending, int to)
    : lines_(prefixes(start), start.whole_lines && start.world_size > 1),
      to_(to),
      own_words_(start.err) {
  if (start.output_dir) log_.emplace(*start.output_dir, start.rank, ending);
}

bool RankStream::pump(int from) {
  char buffer[1U << 16U];
  const ssize_t count = from < 0 ? 0 : read(from, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  take({buffer, static_cast<std::size_t>(count)});
  has_sign_ = has_sign_ || count > 0;
  if (count == 0) {
    to_.add(lines_.finish(0));
    has_ended_ = true;
  }
  return count > 0;
}

void RankStream::add(const std::string& lines) {
  take((last_.is_in_line() ? "\n" : "") + lines);
}

void RankStream::take(std::string_view bytes) {
  last_.take(bytes);
  keep(bytes);
  to_.add(lines_.take(0, bytes, Clock::now()));
}

bool RankStream::is_full() const {
  return to_.unwritten() >= kMostUnwritten;
}

bool RankStream::take_sign() {
  return std::exchange(has_sign_, false) || is_full();
}

void RankStream::add_to(PollSet& set, int from) const {
  if (to_.unwritten() > 0) set.add(to_.fd(), POLLOUT);
  if (!is_full()) set.add(from, POLLIN);
}

void RankStream::flush() {
  to_.add(lines_.show_waiting(Clock::now()));
  to_.flush();
}

void RankStream::keep(std::string_view bytes) {
  if (!log_) return;
  const std::string reason = log_->write(bytes);
  if (reason.empty()) return;
  *own_words_ << "hpcboot run: " << reason << "\n";
  log_.reset();
}

}  // namespace hpcboot::run
