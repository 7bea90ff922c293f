// Escapes text for shells and for documents that other programs read.
#include <algorithm>
#include <cstdint>

#include "hpcboot/encode.hpp"
#include "utf8.hpp"

namespace hpcboot {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_alphanumeric(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

bool holds(std::string_view characters, char c) {
  return characters.find(c) != std::string_view::npos;
}

bool holds_only(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || holds(others, c); });
}

// Includes the full-width forms, which some spreadsheets treat alike.
bool begins_formula(std::string_view cell) {
  if (!cell.empty() && holds("=+-@", cell.front())) return true;
  const std::string_view first = cell.substr(0, 3);
  return first == "\uff1d" || first == "\uff0b" || first == "\uff0d" || first == "\uff20";
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// YAML 1.2 forbids these two beside what terminals do not show.
bool is_noncharacter(char32_t code_point) {
  return code_point == 0xFFFE || code_point == 0xFFFF;
}

// \xNN, \uNNNN or \UNNNNNNNN: YAML 1.2, section 5.7.
std::string yaml_escape(char32_t code_point) {
  const auto number = static_cast<std::uint32_t>(code_point);
  const unsigned digits = number <= 0xFF ? 2 : number <= 0xFFFF ? 4 : 8;
  std::string escape = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (unsigned i = digits; i > 0; --i) escape += "0123456789ABCDEF"[number >> 4U * (i - 1) & 0xFU];
  return escape;
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (!word.empty() && holds_only(word, "_-./:@%+,=") && word.front() != '=')
    return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string bash_quote(std::string_view word) {
  if (is_printable(word)) return shell_quote(word);
  std::string quoted = "$'";
  while (!word.empty()) {
    const std::string_view character = word.substr(0, first_character(word).bytes);
    word.remove_prefix(character.size());
    if (!is_printable(character) && character.size() > 1) {
      for (const char byte : character) quoted += terminal_text({&byte, 1}).str();
    } else {
      if (character == "'" || character == "\\") quoted += '\\';
      quoted += terminal_text(character).str();
    }
  }
  return quoted + "'";
}

std::string csv_field(std::string_view text) {
  // terminal_text() escapes a leading tab or carriage return, which could also start a formula.
  const std::string line = terminal_text(text).str();
  std::string field;
  for (std::size_t i = 0; i < line.size(); ++i) {
    // In locales with a decimal comma, a semicolon ends a cell.
    const bool begins_cell = i == 0 || line[i - 1] == ';';
    if (begins_cell && begins_formula(std::string_view(line).substr(i))) field += '\'';
    field += line[i];
  }
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string markdown_text(std::string_view text) {
  const std::string line = terminal_text(text).str();
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const std::string_view before = std::string_view(line).substr(0, i);
    const std::string_view after = std::string_view(line).substr(i + 1);
    // An underscore within a word is literal, and names of runs are full of them.
    const bool within_word = !before.empty() && is_alphanumeric(before.back()) && !after.empty() &&
                             is_alphanumeric(after.front());
    const bool is_link = (c == ':' && after.substr(0, 2) == "//") ||
                         (c == '.' && before.size() >= 3 &&
                          equal_ignoring_case(before.substr(before.size() - 3), "www"));
    const bool is_block = before.empty() && holds("#+->", c);
    if (c == '@') {
      // GitHub autolinks addresses after unescaping, but not across a comment.
      escaped += "<!-- -->@";
      continue;
    }
    if (holds("\\`*[]<|~&$", c) || (c == '_' && !within_word) || is_link || is_block)
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : terminal_text(text).str()) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string yaml_scalar(std::string_view text) {
  // Words that YAML 1.1 or 1.2 does not read as strings.
  static constexpr std::string_view kReserved[] = {"true", "false", "yes", "no", "on",
                                                   "off",  "null",  "y",   "n"};
  const bool is_reserved =
      std::any_of(std::begin(kReserved), std::end(kReserved),
                  [&](std::string_view word) { return equal_ignoring_case(word, text); });
  const bool is_plain = !text.empty() && (is_letter(text.front()) || holds("_/", text.front())) &&
                        holds_only(text, "_./-");
  if (is_plain && !is_reserved) return std::string(text);
  // Double-quoted style, whose escapes preserve every character: YAML 1.2, section 5.7.
  std::string quoted = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const std::string_view bytes = rest.substr(0, character.bytes);
    rest.remove_prefix(character.bytes);
    if (bytes == "\"" || bytes == "\\") {
      quoted.append("\\").append(bytes);
    } else if (!character.is_valid) {
      quoted += "\uFFFD";
    } else if (is_printable(bytes) && !is_noncharacter(character.code_point)) {
      quoted += bytes;
    } else {
      quoted += yaml_escape(character.code_point);
    }
  }
  return quoted + "\"";
}

}  // namespace hpcboot
