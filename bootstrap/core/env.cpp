#include "hpcboot/env.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "core/byte_order_mark.hpp"
#include "hpcboot/error.hpp"

extern char**
    environ;  // NOLINT(readability-redundant-declaration): POSIX asks programs to declare it

namespace hpcboot {
namespace {

bool is_name(std::string_view text) {
  constexpr std::string_view kNever = "-/:0123456789";
  if (text.empty() || kNever.find(text.front()) != std::string_view::npos) return false;
  // The last line of a key in base64, which may end with =, is no name.
  if (text.find('/') != std::string_view::npos &&
      text.find_first_of("_-:.") == std::string_view::npos)
    return false;
  // Wider than POSIX names: bash exports functions as BASH_FUNC_name%% or BASH_FUNC_name(), npm its
  // settings as npm_config_//host/:name.
  constexpr std::string_view kOther = "_.%()-/:";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           kOther.find(c) != std::string_view::npos;
  });
}

std::string shown(std::string_view name, std::string_view value) {
  return std::string(name) + "='" + std::string(value.substr(0, 80)) +
         (value.size() > 80 ? "…'" : "'");
}

std::string with_range(int minimum, int maximum) {
  return "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
}

[[noreturn]] void fail_missing(std::string_view name, std::string_view set_by) {
  throw Error(
      ErrorCode::missing_variable, std::string(name) + " is not set",
      std::string(name) + ", set for every process by " + std::string(set_by),
      "start the program through " + std::string(set_by) +
          " and keep its environment intact, or set HPCBOOT_METHODS to the intended launcher");
}

}  // namespace

Env::Env(std::map<std::string, std::string> variables)
    : variables_(variables.begin(), variables.end()) {}

Env Env::from_process() {
  Env env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    // Of duplicate names getenv() finds the first.
    env.variables_.emplace(std::string(text.substr(0, equals)),
                           std::string(text.substr(equals + 1)));
  }
  return env;
}

Env Env::parse(std::string_view dump, std::string_view file) {
  if (has_byte_order_mark(dump)) dump.remove_prefix(kByteOrderMark.size());
  // Lines may be passed as a C string that includes its terminating NUL.
  const std::size_t first_nul = dump.find('\0');
  if (first_nul != std::string_view::npos && first_nul + 1 == dump.size() && first_nul > 0 &&
      dump[first_nul - 1] == '\n') {
    dump.remove_suffix(1);
  }
  const char separator = dump.find('\0') != std::string_view::npos ? '\0' : '\n';
  std::vector<std::pair<std::string, std::string>> entries;
  while (!dump.empty()) {
    const std::size_t end = dump.find(separator);
    std::string_view line = dump.substr(0, end);
    dump.remove_prefix(end == std::string_view::npos ? dump.size() : end + 1);
    if (separator == '\n' && !line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && is_name(line.substr(0, equals))) {
      entries.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    } else if (!entries.empty() && separator == '\n' && !(dump.empty() && line.empty())) {
      entries.back().second.append("\n").append(line);
    }
  }
  Env env;
  for (auto& [name, value] : entries) {
    std::string& known = env.variables_.try_emplace(name, value).first->second;
    if (known != value && !file.empty()) {
      // Without the values, which may be secrets.
      throw Error(ErrorCode::malformed_file,
                  std::string(file) + ": " + name + " appears twice, with different values",
                  "every variable once, as printenv writes them",
                  "remove the wrong line; if it belongs to a multi-line value, write the file "
                  "with env -0");
    }
    known = std::move(value);
  }
  return env;
}

std::string Env::dump() const {
  bool one_line_each = true;
  for (const auto& [name, value] : variables_) {
    if (value.find_first_of("\r\n") != std::string::npos) one_line_each = false;
  }
  std::string text;
  for (const auto& [name, value] : variables_) {
    if (!is_name(name)) continue;
    text.append(name).append("=").append(value).push_back(one_line_each ? '\n' : '\0');
  }
  // A second NUL distinguishes it from lines passed as a C string.
  if (!one_line_each && !text.empty()) text.push_back('\0');
  return text;
}

std::optional<std::string_view> Env::raw(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string_view> Env::text(std::string_view name) const {
  const auto value = raw(name);
  if (!value || value->empty()) return std::nullopt;
  return value;
}

std::optional<int> Env::integer(std::string_view name, int minimum, int maximum) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parse_whole_number(*value);
  if (!number || *number < minimum || *number > maximum) {
    throw Error(ErrorCode::malformed_value, shown(name, *value), with_range(minimum, maximum),
                "unset " + std::string(name) + " or start the program with its launcher again");
  }
  return static_cast<int>(*number);
}

int Env::require_integer(std::string_view name, std::string_view set_by, int minimum) const {
  const auto value = integer(name, minimum);
  if (!value) fail_missing(name, set_by);
  return *value;
}

std::string_view Env::require_text(std::string_view name, std::string_view set_by) const {
  const auto value = text(name);
  if (!value) fail_missing(name, set_by);
  return *value;
}

std::optional<std::int64_t> parse_whole_number(std::string_view text) noexcept {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace hpcboot
