#include <algorithm>

#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

enum class Class { lower, upper, digit };

Class class_of(char c) {
  return is_digit(c) ? Class::digit : is_upper(c) ? Class::upper : Class::lower;
}

// Counts the letters and digits of a text, and how often two successive ones differ in class,
// ignoring other characters between them.
struct Disorder {
  std::size_t characters = 0;
  std::size_t changes = 0;
  std::size_t lower = 0, upper = 0, digits = 0;  // runs of each class

  explicit Disorder(std::string_view text) {
    char last = 0;
    for (const char c : text) {
      if (!is_alphanumeric(c)) continue;
      ++characters;
      if (last == 0 || class_of(c) != class_of(last)) {
        if (last != 0) ++changes;
        ++(is_digit(c) ? digits : is_upper(c) ? upper : lower);
      }
      last = c;
    }
  }
};

std::size_t in_hundred(const Disorder& d) {
  return d.characters == 0 ? 0 : d.changes * 100 / d.characters;
}

// In random letters and digits, 62 of 100 neighbours differ in class; in paths, module names and
// CamelCase words, fewer than 40. Hexadecimal digests and identifiers have letters of one case,
// except for a word before them (GPU-8a5f…).
bool is_random(std::string_view text) {
  constexpr std::size_t kLeast = 28;
  if (text.size() < kLeast) return false;
  const Disorder d(text);
  return d.characters >= kLeast - 4 && d.lower > 2 && d.upper > 2 && d.digits > 0 &&
         in_hundred(d) >= 45;
}

bool is_key_character(char c) {
  return is_word(c) || c == '+' || c == '/' || c == '=';
}

bool is_piece_character(char c) {
  return is_alphanumeric(c) || c == '+';
}

void find_in_pieces(std::string_view text, std::size_t begin, std::size_t end, Spans& found) {
  for (std::size_t i = begin; i < end;) {
    const std::size_t piece = std::min(end, end_of(text, i, is_piece_character));
    if (is_random(text.substr(i, piece - i))) found.push_back({i, piece});
    i = std::max(i + 1, piece);
  }
}

}  // namespace

void find_random(std::string_view text, Spans& found) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of(text, i, is_key_character);
    std::size_t begin = i;
    // "name=key": the name is kept.
    const std::size_t name = end_of(text, i, is_word);
    if (name + 1 < end && text[name] == '=' && text[name + 1] != '=') {
      find_in_pieces(text, i, name, found);
      begin = name + 1;
    }
    if (is_random(text.substr(begin, end - begin))) {
      found.push_back({begin, end});
    } else {
      find_in_pieces(text, begin, end, found);
    }
    i = std::max(i + 1, end);
  }
}

std::size_t disorder(std::string_view text) {
  return in_hundred(Disorder(text));
}

bool is_disorderly(std::string_view value) {
  constexpr std::size_t kLeast = 14;
  value.remove_prefix(skip(value, 0, ">=:\"'`\\"));
  const std::size_t end =
      end_of(value, 0, [](char c) { return is_key_character(c) || c == ':' || c == '%'; });
  const std::string_view rest = value.substr(end);
  if (!rest.empty() && !holds("\"'`\\;,)]}", rest.substr(0, 1))) return false;
  value = value.substr(0, end);
  if (value.size() < kLeast || value[0] == '/' || holds(value, "://")) return false;
  const Disorder d(value);
  if (d.lower + d.upper == 0) return d.characters == value.size();  // a client number
  return d.digits > 0 && d.changes >= std::max<std::size_t>(3, d.characters / 8);
}

}  // namespace hpcboot::redaction
