#include "text/style.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/env.hpp"
#include "text/display_width.hpp"

namespace hpcboot {
namespace {

// ECMA-48, 8.3.117: Select Graphic Rendition.
const char* sequence_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\033[1m";
    case Style::red:
      return "\033[31m";
    case Style::green:
      return "\033[32m";
    case Style::yellow:
      return "\033[33m";
    case Style::blue:
      return "\033[34m";
  }
  return "";
}

constexpr char kEscape = '\033';
constexpr std::string_view kMark = "…";  // of cut_to_width()

// Sequences that set a style, and the texts between them.
std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  while (!line.empty()) {
    const bool is_sequence = line.front() == kEscape;
    const std::size_t last = is_sequence ? line.find('m') : line.find(kEscape) - 1;
    parts.push_back(line.substr(0, std::min(last, line.size() - 1) + 1));
    line.remove_prefix(parts.back().size());
  }
  return parts;
}

std::string cut_line(std::string_view line, std::size_t columns) {
  const std::vector<std::string_view> parts = parts_of(line);
  std::string plain;
  for (const std::string_view part : parts) {
    if (part.front() != kEscape) plain += part;
  }
  const std::string cut = cut_to_width(plain, columns);
  if (cut == plain) return std::string(line);
  std::size_t left = cut.size() - kMark.size();
  bool is_marked = false;
  std::string text;
  for (const std::string_view part : parts) {
    if (part.front() == kEscape) {
      text += part;  // also after the cut: one of them ends the style
      continue;
    }
    text += part.substr(0, left);
    if (part.size() > left && !is_marked) text += kMark;
    is_marked = is_marked || part.size() > left;
    left -= std::min(left, part.size());
  }
  return text;
}

}  // namespace

bool has_colour(int descriptor) {
  if (isatty(descriptor) != 1) return false;
  const Env env = Env::from_process();
  // Open MPI gives each rank a terminal of its own, wherever mpirun's output goes.
  if (env.has("PMIX_RANK")) return false;
  const auto terminal = env.text("TERM").value_or("dumb");
  return env.text("NO_COLOR").value_or("").empty() && terminal != "dumb";
}

Encoded styled(const Encoded& text, Style style, bool has_colour) {
  if (!has_colour || style == Style::plain) return text;
  return Encoded::as_is(sequence_of(style) + text.str() + "\033[0m");
}

Encoded cut_to_screen(const Encoded& text, std::size_t columns, std::size_t rows) {
  std::string cut;
  std::string_view rest = text.str();
  for (std::size_t row = 1; !rest.empty() && row <= rows; ++row) {
    std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (row == rows && !rest.empty()) line.append(" ").append(kMark);
    cut += cut_line(line, columns) + "\n";
  }
  return Encoded::as_is(std::move(cut));
}

}  // namespace hpcboot
