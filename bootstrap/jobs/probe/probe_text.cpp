#include "probe_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "hpcboot/env.hpp"

namespace hpcboot::jobscripts {
namespace {

constexpr int kLargest = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return "";
  return std::string(text.substr(from, text.find_last_not_of(kBlanks) + 1 - from));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string value_of(std::string_view text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::string rest = line.substr(name.size());
    if (rest.empty() || std::string_view(" \t=").find(rest[0]) == std::string_view::npos) continue;
    const std::size_t from = rest.find_first_not_of(" \t=");
    if (from != std::string::npos) return trimmed(std::string_view(rest).substr(from));
  }
  return "";
}

std::string part_of(std::string_view list, const std::string& name) {
  for (const std::string& part : split(list, ',')) {
    if (part.compare(0, name.size() + 1, name + "=") == 0) return part.substr(name.size() + 1);
  }
  return "";
}

std::map<std::string, std::string> blocks_of(const std::string& text) {
  std::map<std::string, std::string> blocks;
  std::string* block = nullptr;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (trimmed(line).empty()) continue;
    if (line[0] != ' ' && line[0] != '\t') {
      std::string name = trimmed(line);
      const std::size_t colon = name.find(": ");  // "Queue: workq"
      if (colon != std::string::npos) name = name.substr(colon + 2);
      block = &blocks[name];
    } else if (block != nullptr) {
      *block += trimmed(line) + "\n";
    }
  }
  return blocks;
}

int leading_number(std::string_view text) {
  std::int64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c) || number > kLargest) break;
    number = number * 10 + (c - '0');
  }
  return static_cast<int>(std::min<std::int64_t>(number, kLargest));
}

int gibibytes(std::string_view text, char unit) {
  const std::string number(text.substr(0, text.find_first_not_of("0123456789.")));
  const std::string_view rest = text.substr(number.size());
  const char suffix = rest.empty() ? unit : rest[0];
  constexpr std::string_view kUnits = "bkmgt";
  const std::size_t power =
      kUnits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(suffix))));
  if (power == std::string_view::npos) return 0;
  const double value =
      std::strtod(number.c_str(), nullptr) * std::pow(1024.0, static_cast<double>(power) - 3.0);
  return value < 1e6 ? static_cast<int>(value) : 0;
}

std::optional<int> seconds_of(std::string_view text, bool two_parts_are_hours) {
  const std::size_t dash = text.find('-');
  std::int64_t days = 0;
  if (dash != std::string_view::npos) {
    const auto number = parse_whole_number(text.substr(0, dash));
    if (!number || *number < 0 || *number > 10'000) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  for (const std::string& part : parts) {
    const auto number = parse_whole_number(part);
    if (!number || *number < 0 || *number > kLargest) return std::nullopt;
    seconds = seconds * 60 + *number;
  }
  // After days, the first part is hours.
  if (dash != std::string_view::npos) {
    for (std::size_t i = parts.size(); i < 3; ++i) seconds *= 60;
  } else if (two_parts_are_hours && parts.size() == 2) {
    seconds *= 60;
  }
  seconds += days * 86'400;
  return seconds > 0 && seconds <= kLargest ? std::optional(static_cast<int>(seconds))
                                            : std::nullopt;
}

}  // namespace hpcboot::jobscripts
