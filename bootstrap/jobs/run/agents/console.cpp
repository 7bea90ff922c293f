#include "console.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hpcboot::run {
namespace {

constexpr int kOwn = -1;  // the source of this program's messages
constexpr std::size_t kMostUnwritten = std::size_t{1} << 20U;

// Standard output and standard error of a rank are separate sources.
int source_of(int rank, bool is_error) {
  return 2 * rank + (is_error ? 1 : 0);
}

std::map<int, std::string> prefixes_on(const OutStream& stream, const Layout& layout, bool prefix) {
  std::map<int, std::string> prefixes;
  if (!prefix || !stream.is_terminal()) return prefixes;
  int rank = 0;
  for (const std::string& text : rank_prefixes(layout)) {
    prefixes[source_of(rank, false)] = prefixes[source_of(rank, true)] = text;
    ++rank;
  }
  return prefixes;
}

// Of several ranks, one line must not tear another's.
OutputLines lines_on(const OutStream& stream, const Layout& layout, bool prefix) {
  return OutputLines(prefixes_on(stream, layout, prefix),
                     !stream.is_terminal() && layout.world_size() > 1);
}

bool are_one_terminal(const OutStream& out, const OutStream& err) {
  struct stat out_status {};
  struct stat err_status {};
  return out.is_terminal() && err.is_terminal() && fstat(out.fd(), &out_status) == 0 &&
         fstat(err.fd(), &err_status) == 0 && out_status.st_rdev == err_status.st_rdev;
}

}  // namespace

std::vector<std::string> rank_prefixes(const Layout& layout) {
  const std::size_t digits = std::to_string(std::max(0, layout.world_size() - 1)).size();
  std::vector<std::string> prefixes;
  std::size_t widest = 0;
  for (const HostRanks& host : layout.hosts) {
    for (int i = 0; i < host.ranks; ++i) {
      const std::string number = std::to_string(prefixes.size());
      prefixes.push_back("[" + std::string(digits - number.size(), ' ') + number + " " +
                         terminal_text(host.host).str() + "]");
      widest = std::max(widest, prefixes.back().size());
    }
  }
  for (std::string& prefix : prefixes) prefix.append(widest + 1 - prefix.size(), ' ');
  return prefixes;
}

Console::Console(const Layout& layout, bool prefix)
    : out_(STDOUT_FILENO),
      err_(STDERR_FILENO),
      is_one_terminal_(are_one_terminal(out_, err_)),
      out_lines_(lines_on(out_, layout, prefix)),
      err_lines_(lines_on(err_, layout, prefix)) {}

void Console::show(int rank, bool is_error, std::string_view bytes) {
  stream(is_error).add(lines(is_error).take(source_of(rank, is_error), bytes, Clock::now()));
}

void Console::finish(int rank) {
  for (const bool is_error : {false, true})
    stream(is_error).add(lines(is_error).finish(source_of(rank, is_error)));
}

void Console::say_lines(std::string_view text) {
  stream(true).add(lines(true).take(kOwn, text, Clock::now()));
}

bool Console::has_room() const {
  return out_.unwritten() < kMostUnwritten && err_.unwritten() < kMostUnwritten;
}

void Console::discard() {
  out_.discard();
  err_.discard();
}

void Console::drop_waiting() {
  for (OutStream* stream : {&out_, &err_}) {
    if (stream->unwritten() > 0) stream->discard();
  }
}

void Console::add_to(PollSet& set) const {
  if (out_.unwritten() > 0) set.add(out_.fd(), POLLOUT);
  if (err_.unwritten() > 0) set.add(err_.fd(), POLLOUT);
}

void Console::flush() {
  out_.add(out_lines_.show_waiting(Clock::now()));
  err_.add(err_lines_.show_waiting(Clock::now()));
  out_.flush();
  err_.flush();
}

std::optional<Clock::time_point> Console::next_time() const {
  const auto out = out_lines_.next_time();
  const auto err = err_lines_.next_time();
  if (out && err) return std::min(*out, *err);
  return out ? out : err;
}

}  // namespace hpcboot::run
