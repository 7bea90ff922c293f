#include <algorithm>

#include "hpcboot/redact.hpp"
#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kDecisive = 1024;  // characters of a value; keys of services are shorter

bool is_escaped_quote(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && text[at] == '\\' && is_quote(text[at + 1]);
}

std::size_t skip_quote(std::string_view text, std::size_t at) {
  if (is_escaped_quote(text, at)) return at + 2;
  return at < text.size() && is_quote(text[at]) ? at + 1 : at;
}

// A quoted value ends at its closing quote, any other only at white space: "a,b" may be one
// password.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  if (is_escaped_quote(text, begin)) {
    const std::size_t close = text.find(text.substr(begin, 2), begin + 2);
    return close == kNone ? text.size() : close + 2;
  }
  const char quote = text[begin];
  if (!is_quote(quote)) return find_any(text, begin, kSpace);
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

// The end of the separator between a name and its value: "=", ": ", "=>", "+=", "?=", ">" of XML,
// "%3D" of a URL, "," of a call; npos if there is none at `at`.
std::size_t after_separator(std::string_view text, std::size_t at, bool is_quoted_option) {
  if (at >= text.size()) return kNone;
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '=' || c == ':' || c == '>') return skip(text, at + 1, " \t\r\n=:>");
  if ((c == '+' || c == '?' || c == '|') && (next == '=' || next == '|'))
    return skip(text, at + 2, " \t\r\n=|");
  if (c == '%' && next == '3' && at + 2 < text.size() && holds("DdAa", text.substr(at + 2, 1)))
    return at + 3;
  if (c == ',') {
    const std::size_t value = skip(text, at + 1, kSpace);
    if (is_quoted_option) return value;
    if (skip_quote(text, value) == value) return kNone;
    // The next member of an object is not a value.
    const std::size_t after = skip(text, end_of_value(text, value), kSpace);
    return after < text.size() && text[after] == ':' ? kNone : value;
  }
  return kNone;
}

// The start of the value after a private name that ends at `end` ("name=", "name: ", "'name':",
// "--name ", SQL's "PASSWORD 'x'"); npos if no value follows.
std::size_t value_after(std::string_view text, std::string_view name, std::size_t end) {
  const std::size_t quoted = skip_quote(text, end);
  const std::size_t next = skip(text, quoted, kSpace);
  std::size_t value = after_separator(text, next, quoted > end && name[0] == '-');
  if (value == kNone) {
    const bool is_option = name[0] == '-' && next > end;
    const bool is_text = next > quoted && quoted == end && skip_quote(text, next) > next;
    if (is_option || is_text) value = next;
  }
  return value < text.size() ? value : kNone;
}

// "29400" of "key-service:29400" and "10.0.0.7" of "auth-1:10.0.0.7"
bool is_port_or_address(std::string_view text, std::size_t begin) {
  constexpr std::size_t kDigitsOfPort = 5, kDotsOfAddress = 3;
  const std::size_t end = end_of(text, begin, [](char c) { return is_digit(c) || c == '.'; });
  if (end == begin || (end < text.size() && is_word(text[end]))) return false;
  const std::string_view value = text.substr(begin, end - begin);
  const auto dots = static_cast<std::size_t>(std::count(value.begin(), value.end(), '.'));
  return dots == kDotsOfAddress || (dots == 0 && value.size() <= kDigitsOfPort);
}

std::string_view without_quotes(std::string_view value) {
  while (!value.empty() && holds("\\\"'`", value.substr(0, 1))) value.remove_prefix(1);
  while (!value.empty() && holds("\\\"'`;,", value.substr(value.size() - 1)))
    value.remove_suffix(1);
  return value;
}

// "Cookie: a=b; c=d": the whole line is secret.
bool is_header_of_many_words(std::string_view folded) {
  return ends_with(folded, "AUTHORIZATION") || ends_with(folded, "COOKIE");
}

class Reader {
 public:
  Reader(std::string_view text, Origin origin, Spans& found)
      : text_(text), is_launchers_(origin == Origin::launcher), found_(found) {}

  void read() {
    std::size_t i = 0;
    while (i < text_.size()) {
      const std::size_t end = end_of(text_, i, is_word);
      if (end == i) {
        note_quote(i++);
        continue;
      }
      const std::size_t secret = announced_by(i, end);
      note_name(i, end, secret);
      i = secret == kNone ? end : take(i, end, secret);
    }
  }

 private:
  // The start of the secret that the word in [begin, end) announces; npos if it announces none.
  std::size_t announced_by(std::size_t begin, std::size_t end) const {
    if (is_launchers_ && is_host(begin, end)) return kNone;
    const std::string_view word = text_.substr(begin, end - begin);
    const std::string folded = upper(word);
    if (folded == "BEARER" || folded == "BASIC" || folded == "NTLM") {
      const std::size_t next = skip(text_, end, kSpace);
      return next > end && next < text_.size() ? next : kNone;
    }
    // "?code=x" in a URL grants permission, "exit code = x" does not.
    const bool is_parameter = begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&');
    const bool is_value_of_name = names_a_secret_ && folded == "VALUE";
    const bool is_private = is_private_name(word);
    std::size_t value = kNone;
    if (is_private || is_value_of_name || (is_parameter && folded == "CODE")) {
      value = value_after(text_, word, end);
      if (value != kNone) return value;
    }
    if (folded == "BY" && is_identified_) return value_of_clause(end);
    if (!is_private && !is_name_of_service(word)) return kNone;
    // Variables with these names may contain other things, too: the form of the value decides, or
    // that of its first part, as one value may contain thousands of such names.
    value = value_after(text_, word, end);
    if (value == kNone && end < text_.size() && text_[end] == ',') value = skip(text_, end, ",= ");
    if (value >= text_.size()) return kNone;
    const std::string_view read = text_.substr(0, std::min(value + kDecisive, text_.size()));
    return is_disorderly(read.substr(value, end_of_value(read, value) - value)) ? value : kNone;
  }

  // "key-1:29400", and all but the last of a list of hosts: auth-1,auth-2 and ["auth-1","auth-2"]
  bool is_host(std::size_t begin, std::size_t end) const {
    if (end < text_.size() && text_[end] == ':') return is_port_or_address(text_, end + 1);
    const std::size_t next = skip_quote(text_, end);
    if (next >= text_.size() || text_[next] != ',' || text_[begin] == '-') return false;
    if (next == end) return true;
    std::size_t before = begin;
    while (before > 0 && (is_quote(text_[before - 1]) || is_space(text_[before - 1]))) --before;
    return before > 0 && holds("[,", text_.substr(before - 1, 1));
  }

  // SQL's IDENTIFIED BY 'x'
  std::size_t value_of_clause(std::size_t end) const {
    const std::size_t next = skip(text_, end, kSpace);
    return next < text_.size() ? next : kNone;
  }

  // "{name: API_KEY, value: x}", "<add key="Password" value="x">": a private name without a value,
  // or as a value, belongs to the next "value".
  void note_name(std::size_t begin, std::size_t end, std::size_t secret) {
    const std::string_view word = text_.substr(begin, end - begin);
    is_identified_ = secret == kNone && (is_identified_ || upper(word) == "IDENTIFIED");
    if (secret == kNone) {
      names_a_secret_ = names_a_secret_ || is_private_name(word);
      return;
    }
    const std::string_view value = text_.substr(secret, end_of_value(text_, secret) - secret);
    names_a_secret_ = is_private_name(without_quotes(value));
  }

  // Tracks the quote that encloses the current text: a value that starts inside it ends with it, as
  // in -d "password=a b c". An apostrophe opens no quote.
  void note_quote(std::size_t i) {
    const char c = text_[i];
    if (!is_quote(c) || (i > 0 && text_[i - 1] == '\\')) return;
    if (open_ == c) {
      open_ = '\0';
    } else if (open_ == '\0' && (i == 0 || !is_alphanumeric(text_[i - 1]))) {
      open_ = c;
    }
  }

  // Records the secret, and returns the position after it.
  std::size_t take(std::size_t begin, std::size_t end, std::size_t secret) {
    // A quoted value stays quoted, so that JSON stays JSON.
    const std::size_t quote = skip_quote(text_, secret) - secret;
    const std::size_t last = end_of_secret(secret);
    if (quote > 0) {
      const std::size_t closing =
          text_.substr(secret, quote) == text_.substr(last - quote, quote) &&
                  last >= secret + 2 * quote
              ? quote
              : 0;
      found_.push_back({secret + quote, last - closing});
      return last;
    }
    const std::size_t stop =
        end_of_bare_secret(text_.substr(begin, end - begin), end, secret, last);
    found_.push_back({secret, stop});
    return stop;
  }

  std::size_t end_of_bare_secret(std::string_view word, std::size_t end, std::size_t secret,
                                 std::size_t last) {
    const bool takes_line = text_[end] == ':' && is_header_of_many_words(upper(word));
    if (open_ == '\0') return takes_line ? std::max(last, find_any(text_, secret, "\n\"'")) : last;
    const std::size_t close = text_.find(open_, secret);
    if (close != kNone && (takes_line || close + 1 >= last)) return close;
    open_ = '\0';
    return last;
  }

  // Continues past what the secret itself announces: "Authorization: Bearer x", "secret: --token
  // x".
  std::size_t end_of_secret(std::size_t begin) const {
    std::size_t end = end_of_value(text_, begin);
    for (std::size_t i = begin; i < end;) {
      const std::size_t word_end = end_of(text_, i, is_word);
      if (word_end == i) {
        ++i;
        continue;
      }
      const std::size_t next = announced_by(i, word_end);
      if (next != kNone && next >= end) end = end_of_value(text_, next);
      i = word_end;
    }
    return end;
  }

  std::string_view text_;
  bool is_launchers_;
  Spans& found_;
  char open_ = '\0';
  bool names_a_secret_ = false;  // and its value follows later
  bool is_identified_ = false;
};

}  // namespace

void find_assignments(std::string_view text, Origin origin, Spans& found) {
  Reader(text, origin, found).read();
}

}  // namespace hpcboot::redaction
