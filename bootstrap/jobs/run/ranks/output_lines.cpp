#include "output_lines.hpp"

#include <algorithm>
#include <iterator>

namespace hpcboot::run {
namespace {

// `text` with `prefix` again wherever a terminal goes back to the start of the line.
std::string with_prefixes(std::string_view text, const std::string& prefix) {
  std::string all;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, std::min(text.find('\r'), text.size() - 1) + 1);
    text.remove_prefix(part.size());
    all += part;
    if (!text.empty() && text != "\n") all += prefix;
  }
  return all;
}

}  // namespace

// A carriage return at the end waits for what follows, as it may be half of "\r\n".
std::size_t OutputLines::ready_of(std::string_view text) const {
  if (!whole_) return text.size() - (text.back() == '\r' ? 1 : 0);
  const std::size_t last = text.rfind('\r');
  return last == std::string_view::npos ? 0 : last;
}

void OutputLines::show(int source, std::string_view text, std::string& to) {
  const auto found = prefixes_.find(source);
  const std::string prefix = found == prefixes_.end() ? "" : found->second;
  if (open_ != source) {
    if (open_) to += '\n';
    to += prefix;
  }
  to += prefix.empty() ? text : with_prefixes(text, prefix);
  if (text.back() == '\n') {
    open_.reset();
  } else {
    open_ = source;
  }
}

std::string OutputLines::take(int source, std::string_view bytes, Clock::time_point now) {
  std::string to;
  Waiting& waiting = waiting_[source];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    bytes.remove_prefix(part.size());
    if (waiting.ready == 0) waiting.since = now;
    waiting.text += part;
    if (end == std::string_view::npos && waiting.text.size() < kLongest) {
      waiting.ready = ready_of(waiting.text);
      break;
    }
    show(source, waiting.text, to);
    waiting = {};
  }
  if (waiting.text.empty()) waiting_.erase(source);
  return to;
}

std::string OutputLines::finish(int source) {
  std::string to;
  const auto waiting = waiting_.find(source);
  if (waiting == waiting_.end()) return to;
  show(source, waiting->second.text, to);
  waiting_.erase(waiting);
  return to;
}

std::string OutputLines::show_waiting(Clock::time_point now) {
  std::string to;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    Waiting& waiting = at->second;
    if (waiting.ready == 0 || now < waiting.since + kPatience) {
      ++at;
      continue;
    }
    show(at->first, std::string_view(waiting.text).substr(0, waiting.ready), to);
    waiting.text.erase(0, waiting.ready);
    waiting.ready = 0;
    at = waiting.text.empty() ? waiting_.erase(at) : std::next(at);
  }
  return to;
}

std::optional<OutputLines::Clock::time_point> OutputLines::next_time() const {
  std::optional<Clock::time_point> next;
  for (const auto& [source, waiting] : waiting_) {
    if (waiting.ready == 0) continue;
    next = std::min(next.value_or(Clock::time_point::max()), waiting.since + kPatience);
  }
  return next;
}

void LastLines::take(std::string_view bytes) {
  constexpr std::size_t kKept = std::size_t{16} << 10U;
  if (bytes.size() > kKept) bytes.remove_prefix(bytes.size() - kKept);
  text_ += bytes;
  if (text_.size() > 2 * kKept) text_.erase(0, text_.size() - kKept);
}

std::vector<std::string> LastLines::lines() const {
  std::vector<std::string> lines;
  std::string_view rest = text_;
  if (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  while (!rest.empty() && lines.size() < kCount) {
    const std::size_t end = rest.rfind('\n');
    std::string_view line = rest.substr(end == std::string_view::npos ? 0 : end + 1);
    // A progress bar has overwritten the earlier text.
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line.remove_prefix(line.rfind('\r') + 1);
    lines.insert(lines.begin(), std::string(line));
    rest = rest.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return lines;
}

}  // namespace hpcboot::run
