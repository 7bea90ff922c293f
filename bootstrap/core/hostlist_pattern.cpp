#include "hostlist_pattern.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot::hostlist {
namespace {

bool is_separator(char c) {
  return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

[[noreturn]] void fail(std::string_view entry, const std::string& what) {
  // A list may be a megabyte long; quote only the start of the entry.
  std::string shown(entry.substr(0, 80));
  if (shown.size() < entry.size()) shown += "…";
  throw Error(ErrorCode::malformed_hostlist, what + " in host list entry '" + shown + "'",
              "Slurm's form, such as n[1-4,7] or r[1-2]n[01-16]", "correct the list");
}

std::uint64_t parse_number(std::string_view digits, std::string_view entry) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    fail(entry, "'" + std::string(digits.substr(0, 40)) + "' is not a number");
  }
  return value;
}

Range parse_range(std::string_view text, std::string_view entry) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  Range range;
  range.low = range.high = parse_number(low, entry);
  range.width = low.size();
  if (dash != std::string_view::npos) {
    range.high = parse_number(text.substr(dash + 1), entry);
    if (range.high < range.low) fail(entry, "range '" + std::string(text) + "' runs backwards");
  }
  if (range.high - range.low == UINT64_MAX)
    fail(entry, "range '" + std::string(text) + "' is too large");
  return range;
}

std::vector<Range> parse_set(std::string_view text, std::string_view entry) {
  std::vector<Range> set;
  while (true) {
    const std::size_t comma = text.find(',');
    set.push_back(parse_range(text.substr(0, comma), entry));
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool next_entry(std::string_view& rest, std::string_view& entry) {
  std::size_t begin = 0;
  while (begin < rest.size() && is_separator(rest[begin])) ++begin;
  rest.remove_prefix(begin);
  if (rest.empty()) return false;
  bool in_brackets = false;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    if (!in_brackets && is_separator(c)) break;
  }
  entry = rest.substr(0, end);
  rest.remove_prefix(end);
  return true;
}

namespace {

// The number of hosts is limited elsewhere, and so is what they need with this. NI_MAXHOST is 1025.
void require_short_names(const Pattern& pattern, std::string_view entry) {
  constexpr std::size_t kMostLetters = 1024;
  std::size_t letters = 0;
  for (const std::string_view text : pattern.texts) letters += text.size();
  for (const auto& set : pattern.sets) {
    std::size_t widest = 0;
    for (const Range& range : set) widest = std::max(widest, range.width);
    letters += widest;
  }
  if (!pattern.sets.empty() && letters > kMostLetters)
    fail(entry, "host names of " + std::to_string(letters) + " characters");
}

}  // namespace

Pattern parse_entry(std::string_view entry) {
  Pattern pattern;
  std::string_view rest = entry;
  while (true) {
    const std::size_t open = rest.find_first_of("[]");
    pattern.texts.push_back(rest.substr(0, open));
    for (const char c : pattern.texts.back()) {
      if (static_cast<unsigned char>(c) < 0x21 || c == 0x7f) fail(entry, "a control character");
    }
    if (open == std::string_view::npos) {
      require_short_names(pattern, entry);
      return pattern;
    }
    if (rest[open] == ']') fail(entry, "']' without '['");
    rest.remove_prefix(open + 1);
    const std::size_t close = rest.find_first_of("[]");
    if (close == std::string_view::npos || rest[close] == '[') fail(entry, "'[' without ']'");
    pattern.sets.push_back(parse_set(rest.substr(0, close), entry));
    rest.remove_prefix(close + 1);
  }
}

}  // namespace hpcboot::hostlist
