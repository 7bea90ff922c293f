#include "hpcboot/hostlist.hpp"

#include <algorithm>
#include <charconv>

#include "hostlist_pattern.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::hostlist {
namespace {

[[noreturn]] void fail_too_large(const std::string& found, std::size_t limit) {
  throw Error(ErrorCode::hostlist_too_large, found, "at most " + std::to_string(limit) + " hosts",
              "correct the range, or count it with `hpcboot hosts count`");
}

void append_number(std::string& out, std::uint64_t value, std::size_t width) {
  char digits[20];
  const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto length = static_cast<std::size_t>(end - digits);
  if (length < width) out.append(width - length, '0');
  out.append(digits, length);
}

std::uint64_t size_of(const std::vector<Range>& set) {
  std::uint64_t total = 0;
  for (const Range& range : set) {
    if (__builtin_add_overflow(total, range.size(), &total)) {
      fail_too_large("a host list of more than 2^64 hosts", kMaxHosts);
    }
  }
  return total;
}

std::uint64_t size_of(const Pattern& pattern) {
  std::uint64_t total = 1;
  for (const auto& set : pattern.sets) {
    if (__builtin_mul_overflow(total, size_of(set), &total)) {
      fail_too_large("a host list of more than 2^64 hosts", kMaxHosts);
    }
  }
  return total;
}

// Adds one to the decimal digits in [begin, end); false if they were all nines.
bool increment_digits(const char* begin, char* end) {
  while (end != begin) {
    if (*--end != '9') {
      ++*end;
      return true;
    }
    *end = '0';
  }
  return false;
}

// All hosts of the last set after a fixed prefix. Increments the name in place, which is several
// times faster than formatting each number.
void expand_last_set(const std::string& prefix, const std::vector<Range>& set,
                     std::string_view suffix, std::vector<std::string>& hosts) {
  std::string name;
  for (const Range& range : set) {
    std::uint64_t value = range.low;
    bool rebuild = true;
    char* digits = nullptr;
    char* digits_end = nullptr;
    while (true) {
      if (rebuild) {
        name = prefix;
        append_number(name, value, range.width);
        const std::size_t end = name.size();
        name += suffix;
        digits = name.data() + prefix.size();
        digits_end = name.data() + end;
      }
      hosts.push_back(name);
      if (value == range.high) break;
      ++value;
      rebuild = !increment_digits(digits, digits_end);
    }
  }
}

// One set of an outer loop: the current range and number.
struct Counter {
  const std::vector<Range>* set;
  std::size_t range = 0;
  std::uint64_t value = 0;

  explicit Counter(const std::vector<Range>& s) : set(&s), value(s.front().low) {}

  // Advances to the next number; after the last, wraps to the first and returns false.
  bool advance() {
    if (value < (*set)[range].high) {
      ++value;
      return true;
    }
    range = range + 1 < set->size() ? range + 1 : 0;
    value = (*set)[range].low;
    return range != 0;
  }
};

void expand_pattern(const Pattern& pattern, std::vector<std::string>& hosts) {
  if (pattern.sets.empty()) {
    hosts.emplace_back(pattern.texts.front());
    return;
  }
  std::vector<Counter> counters(pattern.sets.begin(), pattern.sets.end() - 1);
  while (true) {
    std::string prefix(pattern.texts.front());
    for (std::size_t i = 0; i < counters.size(); ++i) {
      append_number(prefix, counters[i].value, (*counters[i].set)[counters[i].range].width);
      prefix += pattern.texts[i + 1];
    }
    expand_last_set(prefix, pattern.sets.back(), pattern.texts.back(), hosts);
    if (std::none_of(counters.begin(), counters.end(), [](Counter& c) { return c.advance(); }))
      return;
  }
}

// A host name split at its last run of digits.
struct Numbered {
  std::string_view prefix;
  std::string_view digits;
  std::string_view suffix;
  std::uint64_t value = 0;
};

Numbered split_number(std::string_view host) {
  Numbered numbered;
  const std::size_t last = host.find_last_of("0123456789");
  numbered.prefix = host;
  if (last == std::string_view::npos) return numbered;
  std::size_t begin = last;
  while (begin > 0 && host[begin - 1] >= '0' && host[begin - 1] <= '9') --begin;
  const std::string_view digits = host.substr(begin, last + 1 - begin);
  const auto value = parse_whole_number(digits);
  if (!value) return numbered;  // more digits than an integer holds: an ordinary name
  numbered.prefix = host.substr(0, begin);
  numbered.digits = digits;
  numbered.suffix = host.substr(last + 1);
  numbered.value = static_cast<std::uint64_t>(*value);
  return numbered;
}

// May `next` follow `previous` in one range whose first number has `width` digits as written?
bool continues(const Numbered& previous, const Numbered& next, std::size_t width) {
  if (next.value != previous.value + 1) return false;
  std::string expected;
  append_number(expected, next.value, width);
  return next.digits == expected;
}

}  // namespace

std::vector<std::string> expand(std::string_view expression, std::size_t limit) {
  std::vector<std::string> hosts;
  std::string_view entry;
  while (next_entry(expression, entry)) {
    const Pattern pattern = parse_entry(entry);
    const std::uint64_t size = size_of(pattern);
    if (size > limit - hosts.size()) {
      std::uint64_t total = 0;
      const bool overflows = __builtin_add_overflow(size, hosts.size(), &total);
      fail_too_large(
          "a list of " + (overflows ? "more than 2^64" : std::to_string(total)) + " hosts", limit);
    }
    // Grow by doubling: with one entry per host, every reserve() would otherwise copy.
    if (hosts.size() + size > hosts.capacity()) {
      hosts.reserve(std::max(hosts.size() + static_cast<std::size_t>(size), 2 * hosts.capacity()));
    }
    expand_pattern(pattern, hosts);
  }
  return hosts;
}

std::uint64_t count(std::string_view expression) {
  std::uint64_t total = 0;
  std::string_view entry;
  while (next_entry(expression, entry)) {
    if (__builtin_add_overflow(total, size_of(parse_entry(entry)), &total)) {
      fail_too_large("a host list of more than 2^64 hosts", kMaxHosts);
    }
  }
  return total;
}

std::string first(std::string_view expression) {
  std::string_view entry;
  if (!next_entry(expression, entry)) {
    throw Error(ErrorCode::malformed_hostlist, "an empty host list", "at least one host",
                "give a list such as n[1-4]");
  }
  const Pattern pattern = parse_entry(entry);
  std::string host(pattern.texts.front());
  for (std::size_t i = 0; i < pattern.sets.size(); ++i) {
    append_number(host, pattern.sets[i].front().low, pattern.sets[i].front().width);
    host += pattern.texts[i + 1];
  }
  return host;
}

std::string compress(const std::vector<std::string>& hosts) {
  std::string out;
  std::size_t i = 0;
  while (i < hosts.size()) {
    if (!out.empty()) out += ',';
    const Numbered head = split_number(hosts[i]);
    if (head.digits.empty()) {
      out += hosts[i++];
      continue;
    }
    // Adjacent hosts with the same prefix and suffix share one bracket, as ranges where numbers are
    // consecutive.
    std::string set;
    std::size_t members = 0;
    while (i < hosts.size()) {
      const Numbered low = split_number(hosts[i]);
      if (low.digits.empty() || low.prefix != head.prefix || low.suffix != head.suffix) break;
      Numbered high = low;
      ++i;
      ++members;
      while (i < hosts.size()) {
        const Numbered next = split_number(hosts[i]);
        if (next.digits.empty() || next.prefix != head.prefix || next.suffix != head.suffix ||
            !continues(high, next, low.digits.size())) {
          break;
        }
        high = next;
        ++i;
        ++members;
      }
      if (!set.empty()) set += ',';
      set += low.digits;
      if (high.value != low.value) set.append("-").append(high.digits);
    }
    out += head.prefix;
    if (members > 1) {
      out.append("[").append(set).append("]");
    } else {
      out += set;
    }
    out += head.suffix;
  }
  return out;
}

std::vector<int> expand_counts(std::string_view text, std::string_view variable,
                               std::size_t limit) {
  const auto fail = [&]() {
    throw Error(ErrorCode::malformed_value, std::string(variable) + "='" + std::string(text) + "'",
                "counts per node in Slurm's form, such as 2(x3),1",
                "start the program with srun or mpirun in a fresh environment");
  };
  std::vector<int> counts;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    std::string_view entry = rest.substr(0, comma);
    std::int64_t repeat = 1;
    const std::size_t open = entry.find("(x");
    if (open != std::string_view::npos) {
      if (entry.back() != ')') fail();
      const auto parsed = parse_whole_number(entry.substr(open + 2, entry.size() - open - 3));
      if (!parsed || *parsed < 1) fail();
      repeat = *parsed;
      entry = entry.substr(0, open);
    }
    const auto value = parse_whole_number(entry);
    if (!value || *value < 0 || *value > INT32_MAX) fail();
    if (static_cast<std::uint64_t>(repeat) > limit - counts.size()) {
      fail_too_large(std::string(variable) + "='" + std::string(text) + "'", limit);
    }
    counts.insert(counts.end(), static_cast<std::size_t>(repeat), static_cast<int>(*value));
    if (comma == std::string_view::npos) return counts;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace hpcboot::hostlist
