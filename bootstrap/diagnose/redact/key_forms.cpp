#include <algorithm>
#include <array>
#include <vector>

#include "key_form_table.hpp"
#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

bool is_in(Body body, char c) {
  switch (body) {
    case Body::hex:
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case Body::alphanumeric:
    case Body::mixed_alphanumeric:
      return is_alphanumeric(c);
    case Body::capitals:
      return is_upper(c) || is_digit(c);
    case Body::word:
    case Body::mixed:
      return is_word(c) || c == '=';
    case Body::base64:
      return is_word(c) || c == '+' || c == '/' || c == '=';
    case Body::base64_of_lines:
      return is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
  }
  return false;
}

std::size_t count(std::string_view text, std::size_t begin, Body body) {
  return end_of(text, begin, [&](char c) { return is_in(body, c); }) - begin;
}

bool is_mixed(std::string_view text) {
  std::size_t changes = 0;  // between capitals and small letters
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_lower(text[i]) ? is_upper(text[i - 1]) : is_upper(text[i]) && is_lower(text[i - 1]))
      ++changes;
  }
  return std::any_of(text.begin(), text.end(), is_lower) &&
         std::any_of(text.begin(), text.end(), is_upper) &&
         (std::any_of(text.begin(), text.end(), is_digit) || changes * 3 >= text.size());
}

struct KeyForm {
  std::string_view prefix;
  Body body;
  std::size_t least;
};

// Indexed by the first character, since every word of a text is compared with the forms.
const std::vector<KeyForm>& forms_that_begin_with(char c) {
  static const auto kByCharacter = [] {
    std::array<std::vector<KeyForm>, 128> table;
    for (const KeyForms& forms : kKeyForms) {
      any_part(forms.prefixes, " ", [&](std::string_view prefix) {
        table.at(static_cast<unsigned char>(prefix[0]))
            .push_back({prefix, forms.body, forms.least});
        return false;
      });
    }
    return table;
  }();
  static const std::vector<KeyForm> kNone;
  const auto index = static_cast<unsigned char>(c);
  return index < kByCharacter.size() ? kByCharacter.at(index) : kNone;
}

// Whether a key with a known prefix begins here.
bool has_prefix(std::string_view text) {
  const auto& forms = forms_that_begin_with(text[0]);
  return std::any_of(forms.begin(), forms.end(), [&](const KeyForm& form) {
    if (!starts_with(text, form.prefix)) return false;
    const std::size_t begin = form.prefix.size();
    const std::size_t length = count(text, begin, form.body);
    const bool must_be_mixed = form.body == Body::mixed || form.body == Body::mixed_alphanumeric;
    return length >= form.least && (!must_be_mixed || is_mixed(text.substr(begin, length)));
  });
}

bool is_hex_of_one_case(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_lower) ||
         std::none_of(text.begin(), text.end(), is_upper);
}

// Five groups of five capitals and digits.
bool is_product_key(std::string_view word) {
  constexpr std::size_t kSize = 29;
  constexpr std::size_t kPart = 6;
  bool is_key = word.size() == kSize && std::any_of(word.begin(), word.end(), is_digit);
  for (std::size_t i = 0; is_key && i < kSize; ++i)
    is_key = i % kPart == kPart - 1 ? word[i] == '-' : is_in(Body::capitals, word[i]);
  return is_key;
}

// Keys that are recognised by something inside them; `word` consists of letters, digits and - _ . ~
bool has_mark(std::string_view word) {
  constexpr std::size_t kLeast = 32;
  if (is_product_key(word) || holds(word, ".atlasv1.")) return true;
  if (word.size() < kLeast) return false;
  const std::size_t azure = word.find("Q~");  // client secret of an application
  if (azure != std::string_view::npos && azure >= 4 && is_digit(word[azure - 1]) &&
      word.size() >= azure + kLeast) {
    return true;
  }
  // Twilio: two capitals, 32 hexadecimal digits
  if (word.size() == 34 && is_upper(word[0]) && is_upper(word[1]) &&
      count(word, 2, Body::hex) == 32 && is_hex_of_one_case(word.substr(2)) &&
      std::any_of(word.begin() + 2, word.end(), is_digit)) {
    return true;
  }
  const std::size_t hex = count(word, 0, Body::hex);
  // Mailgun: 32-8-8; Mailchimp: 32-us7
  if (hex == 32 && word.size() == 50 && word[32] == '-' && word[41] == '-') return true;
  if (word.size() <= 37 && starts_with(word.substr(32), "-us") && is_digit(word.back()))
    return true;
  // Airtable: pat, 14 letters, a dot, 64 hexadecimal digits
  if (word.size() >= 82 && starts_with(word, "pat") && count(word, 18, Body::hex) >= 64)
    return true;
  if (holds(word, ".acc_") || holds(word, ".acc-"))  // Authress
    return starts_with(word, "sc_") || starts_with(word, "ext_") || starts_with(word, "scauth_") ||
           starts_with(word, "authress_");
  // Dropbox
  if (word.size() >= 60 && holds(word, "AAAAAAAAAA") && is_mixed(word)) return true;
  return holds(word, "T3BlbkFJ") || holds(word, "JQQJ99") || ends_with(word, "_mmk") ||
         (ends_with(word, "NRAL") && count(word, 0, Body::alphanumeric) == 40);
}

// Part of a key rather than of a name: it changes between letters and digits as often as random
// ones do, even if all its letters are small, or it consists of capitals.
bool is_part_of_key(std::string_view part) {
  const bool is_of_both_cases = std::any_of(part.begin(), part.end(), is_lower) &&
                                std::any_of(part.begin(), part.end(), is_upper);
  if (is_of_both_cases) return part.size() >= 6 && disorder(part) >= 33;
  return part.size() >= 12 &&
         (disorder(part) >= 20 || count(part, 0, Body::capitals) == part.size());
}

// "xai-gpu-1.cluster.example.org" and "MII-1/pe_hostfile", but not "xai-" and a key
bool is_host_or_path(std::string_view word) {
  constexpr std::string_view kSeparators = "-./_";
  const auto is_allowed = [&](char c) {
    return is_alphanumeric(c) || kSeparators.find(c) != std::string_view::npos;
  };
  return end_of(word, 0, is_allowed) == word.size() &&
         word.find_first_of(kSeparators) != std::string_view::npos &&
         !any_part(word, kSeparators, is_part_of_key);
}

// The end of a bot's "123456789:key" or an application's "123456789012|key"; 0 if there is none.
std::size_t end_of_numbered_key(std::string_view text) {
  const std::size_t digits = end_of(text, 0, is_digit);
  if (digits < 8 || digits > 18 || digits >= text.size()) return 0;
  const std::size_t least = text[digits] == ':'                          ? 34
                            : text[digits] == '|' || text[digits] == '%' ? 24
                                                                         : 0;
  if (least == 0) return 0;
  const std::size_t length = count(text, digits + 1, Body::word);
  // "12345678:Experiment-ResNet50-Baseline-Seed-0001" is a name: of the neighbours in random
  // letters and digits, more than half differ in class.
  constexpr std::size_t kOfKeys = 33;
  if (text[digits] == ':' && disorder(text.substr(digits + 1, length)) < kOfKeys) return 0;
  return length >= least ? digits + 1 + length : 0;
}

// A key begins at the start of a word, or after an escape ("%3D", "\n"), which ends in a letter.
bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_alphanumeric(text[at - 1])) return true;
  return (at >= 3 && text[at - 3] == '%') || (at >= 2 && text[at - 2] == '\\');
}

bool is_key_character(char c) {
  return is_word(c) || holds("+/=~%$", std::string_view(&c, 1));
}

// Continues past the escape of "=" that JSON may contain.
std::size_t end_of_key(std::string_view text, std::size_t at) {
  std::size_t end = end_of(text, at, is_key_character);
  while (starts_with(text.substr(end), "\\u00")) end = end_of(text, end + 1, is_key_character);
  return end;
}

bool is_marked_character(char c) {
  return is_word(c) || c == '~';
}

}  // namespace

void find_known_keys(std::string_view text, Origin origin, Spans& found) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '-' || !begins_word(text, i)) {
      ++i;
      continue;
    }
    // What identifies a key is near its beginning; in a long text without spaces, a key may begin
    // anywhere.
    constexpr std::size_t kMost = 512;
    const std::string_view rest = text.substr(i, kMost);
    const std::string_view word = rest.substr(0, end_of(rest, 0, is_marked_character));
    std::size_t end = i + end_of_numbered_key(rest);
    if (end == i && (has_prefix(rest) || has_mark(word))) end = end_of_key(text, i);
    const bool is_name = origin == Origin::launcher && is_host_or_path(text.substr(i, end - i));
    if (end > i && !is_name) found.push_back({i, end});
    i = std::max(i + 1, end);
  }
}

}  // namespace hpcboot::redaction
