#include "bounded_toml.hpp"

#include <algorithm>
#include <string>

#include "core/byte_order_mark.hpp"
#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80U;
}

// A string at the start of `toml`: its size, and the position at which toml++ 3.3 would check
// whether a non-ASCII character is white space, which has undefined behaviour: in a multi-line
// string after a backslash, and at the start of a line that a backslash joins to the previous one.
struct Quoted {
  std::size_t size = 0;
  std::size_t unsafe = kNowhere;
};

Quoted quoted_at_begin(std::string_view toml) {
  const char quote = toml.front();
  const std::string three(3, quote);
  const bool has_escapes = quote == '"';
  const bool is_long = toml.substr(0, 3) == three;
  Quoted quoted;
  std::size_t at = is_long ? 3 : 1;
  bool is_joined = false;  // only blanks and escapes since lines were joined
  for (; at < toml.size(); ++at) {
    const char c = toml[at];
    if (is_joined && !is_ascii(c)) quoted.unsafe = std::min(quoted.unsafe, at);
    if (has_escapes && c == '\\') {
      const std::size_t next =
          is_long ? std::min(toml.find_first_not_of(" \t", at + 1), toml.size()) : at + 1;
      const char after = next < toml.size() ? toml[next] : '\n';
      if (is_long && !is_ascii(after)) quoted.unsafe = std::min(quoted.unsafe, next);
      const bool joins = is_long && (after == '\n' || after == '\r');
      is_joined = is_joined || joins;
      at = joins ? next : at + 1;
    } else if (is_long ? toml.substr(at, 3) == three : c == quote || c == '\n') {
      break;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      is_joined = false;
    }
  }
  at = std::min(at, toml.size());
  if (!is_long) {
    quoted.size = std::min(at + 1, toml.size());
    return quoted;
  }
  // Up to two more quotes may precede the three that end the string.
  at = std::min(at + 3, toml.size());
  for (int more = 0; more < 2 && at < toml.size() && toml[at] == quote; ++more) ++at;
  quoted.size = at;
  return quoted;
}

struct Place {
  int line = 0;  // from 1; 0: none
  const char* what = "";
  const char* expected = "";
};

// Tracks where a value may start, as toml++ sees it up to the first error, at which it stops.
class Context {
 public:
  // Whether this is the closing bracket of an inline table within an array that is still open.
  bool is_wrong_end(char c) const { return c == '}' && !open_.empty() && open_.back() == '['; }

  // Whether a value may start here.
  bool is_fresh_value() const { return is_value_ && is_fresh_; }

  // Called for each character outside strings and comments, and for the quotes that start strings.
  void see(char c) {
    if (c == ' ' || c == '\t' || c == '\r') return;
    if (!is_value_) {
      see_in_key(c);
    } else if (c == '\n') {
      if (open_.empty()) is_value_ = false;
    } else if (c == ',' && !open_.empty()) {
      is_value_ = is_fresh_ = open_.back() == '[';
    } else if ((c == '[' || c == '{') && is_fresh_) {
      open_ += c;
      is_value_ = c == '[';
    } else {
      if (!open_.empty() && c == (open_.back() == '[' ? ']' : '}')) open_.pop_back();
      is_fresh_ = false;
    }
  }

  bool is_in_key() const { return !is_value_; }

  // toml++ takes a quote that does not start a value, and what follows it, as part of the value.
  bool may_quote() const { return !is_value_ || is_fresh_; }

 private:
  void see_in_key(char c) {
    if (c == '=') is_value_ = is_fresh_ = true;
    if (c != '}' || open_.empty()) return;
    open_.pop_back();
    is_value_ = true;
    is_fresh_ = false;
  }

  std::string open_;  // open arrays and inline tables, each by its bracket
  bool is_value_ = false;
  bool is_fresh_ = false;  // nothing of the value has been seen yet
};

// Where the name of a table starts whose header starts with the bracket at `at`.
std::size_t name_of_table(std::string_view toml, std::size_t at) {
  std::size_t name = toml.find_first_not_of(" \t", at + 1);
  if (name < toml.size() && toml[name] == '[') name = toml.find_first_not_of(" \t", name + 1);
  return std::min(name, toml.size());
}

// What toml++ takes for granted of the first character of a table's name, other than a closing
// bracket, which it reports.
bool can_start_name(char c) {
  return c == '"' || c == '\'' || c == '_' || c == '-' || (c >= '0' && c <= '9') ||
         (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Whether toml++ reads these characters of a value without undefined behaviour: of a number, date,
// time or Boolean, up to the next comma, bracket, comment or line. It remembers 127 characters, and
// expects a time after a date and a blank.
bool is_safe_bare_value(std::string_view value) {
  constexpr std::size_t kLongest = 100;
  constexpr std::size_t kDate = 10;  // 2026-11-25
  value = value.substr(0, value.find_last_not_of(" \t\r") + 1);
  if (value.size() > kLongest) return false;
  const std::size_t blank = value.find_first_of(" \t");
  if (blank == std::string_view::npos) return true;
  const auto is_digit = [&](std::size_t i) {
    return i < value.size() && value[i] >= '0' && value[i] <= '9';
  };
  return blank == kDate && value[4] == '-' && value[7] == '-' && is_digit(kDate + 1) &&
         is_digit(kDate + 2) && value.size() > kDate + 3 && value[kDate + 3] == ':';
}

// The first place in the text that toml++ must not see.
Place first_unsafe(std::string_view toml) {
  const auto place = [&](std::size_t at, const char* what, const char* expected) {
    const auto before = toml.substr(0, at);
    return Place{1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')), what,
                 expected};
  };
  Context context;
  std::size_t dots = 0;
  std::size_t at = has_byte_order_mark(toml) ? kByteOrderMark.size() : 0;
  while (at < toml.size()) {
    const char c = toml[at];
    if (c == '"' || c == '\'') {
      if (!context.may_quote())
        return place(at, "a quote within a value", "a value followed by a new line or a comma");
      context.see(c);
      const Quoted quoted = quoted_at_begin(toml.substr(at));
      if (quoted.unsafe != kNowhere) {
        return place(at + quoted.unsafe, "a non-ASCII character after a backslash",
                     "an ASCII character, or a single-line string");
      }
      at += quoted.size;
      continue;
    }
    if (c == '#') {
      at = std::min(toml.find('\n', at), toml.size());
      continue;
    }
    if (!is_ascii(c)) {
      return place(at, "a non-ASCII character outside strings and comments",
                   "letters, digits, _ and - in names; strings in double quotes");
    }
    if (c == '[' && context.is_in_key()) {
      const std::size_t name = name_of_table(toml, at);
      if (name < toml.size() && toml[name] != ']' && !can_start_name(toml[name]))
        return place(at, "a table without a name", "a name in brackets, such as [node]");
    }
    if (context.is_wrong_end(c)) return place(at, "a brace in an array", "a value or a bracket");
    constexpr std::string_view kNoBareValue = " \t\r\n[]{},=#";
    if (context.is_fresh_value() && kNoBareValue.find(c) == std::string_view::npos) {
      const auto end = std::min(toml.find_first_of("\n[]{},#\"'", at), toml.size());
      if (!is_safe_bare_value(toml.substr(at, end - at)))
        return place(at, "a value that is neither a string nor a number, date, time or Boolean",
                     "strings in double quotes");
    }
    context.see(c);
    if (c == '.' && ++dots >= kMostKeyParts)
      return place(at, "a dotted key of more than 16 parts", "a key such as node.gpus");
    if (c == '=' || c == ',' || c == '{' || c == '}' || c == '[' || c == ']' || c == '\n') dots = 0;
    ++at;
  }
  return {};
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& file) {
  const auto wrong = [&](int line, const std::string& what, const std::string& expected) {
    return Error(ErrorCode::malformed_file, file + ":" + std::to_string(line) + ": " + what,
                 expected, "correct this line");
  };
  if (text.size() > kLongestToml)
    throw wrong(1, "the file has " + std::to_string(text.size()) + " bytes", "at most 1 MiB");
  if (const Place unsafe = first_unsafe(text); unsafe.line != 0)
    throw wrong(unsafe.line, unsafe.what, unsafe.expected);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw wrong(static_cast<int>(error.source().begin.line), std::string(error.description()),
                "TOML: NAME = VALUE, strings in double quotes");
  }
}

toml::table read_toml_file(const std::filesystem::path& file) {
  const FileText read = read_whole(file.string(), FileKind::regular);
  if (!read.text) {
    throw Error(ErrorCode::unreadable_file,
                "the file " + file.string() + " cannot be read: " + read.reason,
                "a profile such as jobscripts/sites/generic_slurm.toml", "correct the path");
  }
  return parse_toml(*read.text, file.string());
}

}  // namespace hpcboot
