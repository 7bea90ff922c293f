#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Character classes and text helpers for finding secrets; ASCII only.
namespace hpcboot::redaction {

inline constexpr std::string_view kSpace = " \t\r\n";

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

inline bool is_alphanumeric(char c) {
  return is_digit(c) || is_lower(c) || is_upper(c);
}

/// Characters of names and options.
inline bool is_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}

inline bool is_space(char c) {
  return kSpace.find(c) != std::string_view::npos;
}

inline bool is_quote(char c) {
  return c == '"' || c == '\'';
}

inline char upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 32) : c;
}

inline std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper(c);
  return out;
}

inline bool are_equal_but_for_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return upper(x) == upper(y); });
}

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The end of the characters that `is_one` accepts, starting at `begin`.
template <typename IsOne>
std::size_t end_of(std::string_view text, std::size_t begin, IsOne is_one) {
  while (begin < text.size() && is_one(text[begin])) ++begin;
  return begin;
}

inline std::size_t skip(std::string_view text, std::size_t begin, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, begin), text.size());
}

inline std::size_t find_any(std::string_view text, std::size_t begin, std::string_view characters) {
  return std::min(text.find_first_of(characters, begin), text.size());
}

/// Calls `visit` with each part between the characters of `separators`, until it returns true.
template <typename Visit>
bool any_part(std::string_view text, std::string_view separators, Visit visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = find_any(text, begin, separators);
    if (visit(text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace hpcboot::redaction
