#include "values.hpp"

#include <algorithm>
#include <string>

#include "hpcboot/redact.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kBlank = " \t";

bool is_backslash(char c) {
  return c == '\\';
}

bool opens(char c) {
  return c == '{' || c == '[';
}

bool closes(char c) {
  return c == '}' || c == ']';
}

// At the closing quote, which has as many backslashes before it as the opening one. What is escaped
// once more has others: \\\" in \"…\".
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  const std::size_t open = end_of(text, begin, is_backslash);
  const std::size_t escapes = open - begin;
  const std::string triple(3, text[open]);  // of Python and TOML
  if (escapes == 0 && starts_with(text.substr(open), triple)) {
    const std::size_t close = text.find(triple, open + triple.size());
    return close == kNone ? text.size() : close + triple.size();
  }
  const std::size_t period = 2 * (escapes + 1);
  std::size_t run = 0;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (is_backslash(text[i])) {
      ++run;
      continue;
    }
    if (text[i] == text[open] && run % period == escapes) return i + 1;
    run = 0;
  }
  return text.size();
}

// At white space; a backslash may escape a blank.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  for (std::size_t end = find_any(text, begin, kSpace);; end = find_any(text, end + 1, kSpace)) {
    std::size_t escapes = 0;
    while (end > begin + escapes && is_backslash(text[end - escapes - 1])) ++escapes;
    if (end >= text.size() || escapes % 2 == 0 || !holds(kBlank, text.substr(end, 1))) return end;
  }
}

bool ends_value(std::string_view text, std::size_t at) {
  return at >= text.size() || holds(" \t\r\n,;}])\"'`<&\\", text.substr(at, 1));
}

// What was redacted before has nothing left to hide.
bool was_redacted(std::string_view text, std::size_t begin) {
  return starts_with(text.substr(begin), kRedacted) && ends_value(text, begin + kRedacted.size());
}

// At the bracket that matches the first one; those in quotes do not count.
std::size_t end_of_brackets(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text.size();) {
    const std::size_t quote = end_of(text, i, is_backslash);
    const bool is_apostrophe = quote == i && i > begin && is_alphanumeric(text[i - 1]);
    if (quote < text.size() && is_quote(text[quote]) && !is_apostrophe) {
      i = end_of_quoted(text, i);
      continue;
    }
    if (quote > i) {
      i = quote;
      continue;
    }
    if (opens(text[i])) ++depth;
    if (closes(text[i])) --depth;
    ++i;
    if (depth == 0) return ends_value(text, i) ? i : end_of_word(text, i);
  }
  return text.size();
}

std::size_t end_of_line(std::string_view text, std::size_t begin) {
  return find_any(text, begin, "\r\n");
}

// A list may be in the column of its name.
bool is_indented_more(std::string_view text, std::size_t line, std::size_t first,
                      std::size_t column) {
  const bool is_item =
      text[first] == '-' && is_space(first + 1 < text.size() ? text[first + 1] : ' ');
  return first - line > column || (is_item && first - line == column);
}

std::size_t end_of_block(std::string_view text, const Value& value) {
  std::size_t end = end_of_line(text, value.begin);
  for (std::size_t next = end; next < text.size();) {
    const std::size_t line = skip(text, next, "\r\n");
    const std::size_t first = skip(text, line, kBlank);
    next = end_of_line(text, first);
    if (next == first) continue;  // an empty line
    if (!is_indented_more(text, line, first, value.column)) break;
    end = next;
  }
  return end;
}

// At the next tag, and what follows it without a blank.
std::size_t end_of_element(std::string_view text, std::size_t begin) {
  const bool is_empty = starts_with(text.substr(begin), "</");
  const std::size_t tag = is_empty ? begin : text.find('<', begin + 1);
  return find_any(text, tag == kNone ? begin : tag, kSpace);
}

// "|" and ">", perhaps with a digit or a sign, at the end of a line
bool is_block_sign(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '|' && text[at] != '>')) return false;
  const std::size_t end = skip(text, skip(text, at + 1, "+-0123456789"), kBlank);
  return end < text.size() && (text[end] == '\n' || text[end] == '\r');
}

}  // namespace

std::size_t skip_quote(std::string_view text, std::size_t at) {
  const std::size_t quote = end_of(text, at, is_backslash);
  return quote < text.size() && is_quote(text[quote]) ? quote + 1 : at;
}

std::size_t end_of_value(std::string_view text, const Value& value) {
  const std::size_t begin = value.begin;
  if (value.form == Form::block) return end_of_block(text, value);
  if (was_redacted(text, begin)) return begin + kRedacted.size();
  if (value.form == Form::element) return end_of_element(text, begin);
  if (skip_quote(text, begin) > begin) return end_of_quoted(text, begin);
  if (opens(text[begin])) return end_of_brackets(text, begin);
  return value.form == Form::line ? end_of_line(text, begin) : end_of_word(text, begin);
}

bool is_delimited(std::string_view text, const Value& value) {
  return value.form != Form::word || opens(text[value.begin]) || was_redacted(text, value.begin);
}

Value value_after_colon(std::string_view text, std::size_t name, std::size_t colon) {
  const std::size_t at = skip(text, colon + 1, kBlank);
  const Value word = {skip(text, at, " \t\r\n=:>")};
  std::size_t line = name;
  while (line > 0 && holds(" \t-\"'", text.substr(line - 1, 1))) --line;
  const std::size_t column = name - line;
  if (line > 0 && text[line - 1] != '\n') return word;
  if (is_block_sign(text, at)) return {at, Form::block, column};
  const std::size_t first = skip(text, at, kSpace);
  if (first >= text.size()) return word;
  if (first > at) {  // the value begins on another line
    const bool is_block = is_indented_more(text, text.rfind('\n', first) + 1, first, column);
    return is_block ? Value{first, Form::block, column} : word;
  }
  // A text of one line is rarely YAML.
  const bool has_lines = line > 0 || holds(text.substr(at), "\n");
  return has_lines && at > colon + 1 && word.begin == at ? Value{at, Form::line} : word;
}

}  // namespace hpcboot::redaction
