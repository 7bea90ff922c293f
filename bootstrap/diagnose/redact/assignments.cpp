#include <algorithm>
#include <optional>
#include <utility>

#include "core/contains.hpp"
#include "hpcboot/redact.hpp"
#include "secrets.hpp"
#include "text.hpp"
#include "values.hpp"

namespace hpcboot::redaction {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kDecisive = 1024;  // characters of a value; keys of services are shorter

// The end of the separator between a name and its value: "=", "=>", "+=", "?=", ">", "%3D" of a
// URL, "," of a call; npos if there is none at `at`.
std::size_t after_separator(std::string_view text, std::size_t at, bool is_quoted_option) {
  if (at >= text.size()) return kNone;
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '=' || c == '>') return skip(text, at + 1, " \t\r\n=:>");
  if ((c == '+' || c == '?' || c == '|') && (next == '=' || next == '|'))
    return skip(text, at + 2, " \t\r\n=|");
  if (c == '%' && next == '3' && at + 2 < text.size() && holds("DdAa", text.substr(at + 2, 1)))
    return at + 3;
  if (c == ',') {
    const std::size_t value = skip(text, at + 1, kSpace);
    if (is_quoted_option) return value;
    if (skip_quote(text, value) == value) return kNone;
    // The next member of an object is not a value.
    const std::string_view read = text.substr(0, std::min(value + kDecisive, text.size()));
    const std::size_t after = skip(text, end_of_value(read, {value}), kSpace);
    return after < text.size() && text[after] == ':' ? kNone : value;
  }
  return kNone;
}

bool begins_tag(std::string_view text, std::size_t begin) {
  return begin > 0 && text[begin - 1] == '<';
}

// The value after a private name in [begin, end) ("name=", "name: ", "'name':", "['name'] =",
// "--name ", SQL's "PASSWORD 'x'"), if one follows.
std::optional<Value> value_after(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t quoted = skip_quote(text, end);
  // os.environ['TOKEN'] = 'x'
  const std::size_t bracket = quoted > end && text.substr(quoted, 1) == "]" ? quoted + 1 : quoted;
  const std::size_t assigned = skip(text, bracket, kSpace);
  const bool is_element = bracket > quoted && text.substr(assigned, 1) == "=";
  const std::size_t next = is_element ? assigned : skip(text, quoted, kSpace);
  if (begin >= 2 && text.substr(begin - 2, 2) == "</") return std::nullopt;  // a closing tag
  Value value = {kNone};
  if (begins_tag(text, begin) && text.substr(end, 1) == ">") {
    value = {skip(text, end + 1, kSpace), Form::element};
  } else if (next < text.size() && text[next] == ':') {
    value = value_after_colon(text, begin, next);
  } else {
    value = {after_separator(text, next, quoted > end && text[begin] == '-')};
  }
  if (value.begin == kNone) {
    const bool is_option = text[begin] == '-' && next > end;
    const bool is_text = next > quoted && quoted == end && skip_quote(text, next) > next;
    if (is_option || is_text) value.begin = next;
  }
  return value.begin < text.size() ? std::optional(value) : std::nullopt;
}

// "29400" of "key-service:29400" and "10.0.0.7" of "auth-1:10.0.0.7"
bool is_port_or_address(std::string_view text, std::size_t begin) {
  constexpr std::size_t kDigitsOfPort = 5;
  constexpr std::size_t kDotsOfAddress = 3;
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

// Whether a connection string goes on after the value at `begin`: "x;UID=me"
bool has_next_parameter(std::string_view text, std::size_t begin) {
  const std::string_view read = text.substr(0, std::min(begin + kDecisive / 4, text.size()));
  const std::size_t name = find_any(read, begin, ";\n");
  const auto is_of_name = [](char c) { return is_alphanumeric(c) || c == ' '; };
  const std::size_t end = name < read.size() ? end_of(read, name + 1, is_of_name) : name;
  return end > name + 1 && end < read.size() && read[end] == '=';
}

// Whether the word in [begin, end) is the "PWD" of a connection string ("UID=me;PWD=x") or of a URL
// ("?pwd=x"); elsewhere it is a folder.
bool is_pwd_of_connection(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view kBefore = ";?&";
  const std::string_view word = text.substr(begin, end - begin);
  const char before = begin > 0 ? text[begin - 1] : ' ';
  if (!are_equal_but_for_case(word, "PWD")) return false;
  if (holds(kBefore, std::string_view(&before, 1))) return true;
  const auto value = value_after(text, begin, end);
  if (!value) return false;
  const std::string_view content = text.substr(skip_quote(text, value->begin), 1);
  if (holds("/~.$`", content)) return false;
  const bool is_assigned =
      holds(text.substr(end, value->begin - end), "=") || skip_quote(text, end) > end;
  return content == "{" || (word != "PWD" && is_assigned) || has_next_parameter(text, value->begin);
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
        const std::optional<Value> content = content_of_tag(i);
        if (!content) note_quote(i);
        i = content ? take(i, i, *content) : i + 1;
        continue;
      }
      const std::optional<Value> secret = announced_by(i, end);
      note_name(i, end, secret);
      i = secret ? take(i, end, *secret) : end;
    }
  }

 private:
  // The secret that the word in [begin, end) announces, if any.
  std::optional<Value> announced_by(std::size_t begin, std::size_t end) const {
    if (is_launchers_ && is_host(begin, end)) return std::nullopt;
    const std::string_view word = text_.substr(begin, end - begin);
    const std::string folded = upper(word);
    if (contains({"BEARER", "BASIC", "NTLM"}, folded)) return next_word(end);
    // "?code=x" in a URL grants permission, "exit code = x" does not.
    const bool is_parameter = begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&');
    const bool is_value_of_name = names_a_secret_ && folded == "VALUE";
    const bool is_private = is_private_name(word) || is_pwd_of_connection(text_, begin, end);
    if (is_private || is_value_of_name || (is_parameter && folded == "CODE")) {
      if (const auto value = value_after(text_, begin, end)) return value;
    }
    if (folded == "BY" && is_identified_) return next_word(end);  // SQL's IDENTIFIED BY 'x'
    const bool is_scheme = contains({"TOKEN", "NEGOTIATE", "SPLUNK"}, folded);
    const bool is_response = is_digest_ && folded == "RESPONSE";
    if (!is_private && !is_scheme && !is_response && !is_name_of_service(word)) return std::nullopt;
    // Variables with these names may contain other things, too: the form of the value decides, or
    // that of its first part, as one value may contain thousands of such names.
    auto value = value_after(text_, begin, end);
    if (!value && is_scheme) value = next_word(end);
    if (!value && end < text_.size() && text_[end] == ',') value = Value{skip(text_, end, ",= ")};
    if (!value || value->begin >= text_.size()) return std::nullopt;
    const std::string_view read = text_.substr(0, std::min(value->begin + kDecisive, text_.size()));
    const std::size_t last = end_of_value(read, {value->begin});
    return is_disorderly(read.substr(value->begin, last - value->begin)) ? value : std::nullopt;
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

  std::optional<Value> next_word(std::size_t end) const {
    const std::size_t next = skip(text_, end, kSpace);
    return next > end && next < text_.size() ? std::optional(Value{next}) : std::nullopt;
  }

  // "{name: API_KEY, value: x}", "<add key="Password" value="x">": a private name without a value,
  // or as a value, belongs to the next "value".
  void note_name(std::size_t begin, std::size_t end, const std::optional<Value>& secret) {
    const std::string_view word = text_.substr(begin, end - begin);
    is_digest_ = is_digest_ || are_equal_but_for_case(word, "digest");
    is_identified_ = !secret && (is_identified_ || upper(word) == "IDENTIFIED");
    if (!secret) {
      const bool is_private = is_private_name(word);
      names_a_secret_ = names_a_secret_ || is_private;
      if (is_private && begins_tag(text_, begin)) tag_ = end;
      return;
    }
    const std::size_t last = end_of_value(text_, *secret);
    names_a_secret_ =
        is_private_name(without_quotes(text_.substr(secret->begin, last - secret->begin)));
  }

  // What the > at `at` begins, if it ends a tag with attributes: <password type="plain">x
  std::optional<Value> content_of_tag(std::size_t at) {
    if (text_[at] != '<' && text_[at] != '>') return std::nullopt;
    const std::size_t tag = std::exchange(tag_, kNone);
    if (tag == kNone || text_[at] == '<' || text_[at - 1] == '/') return std::nullopt;
    const std::size_t begin = skip(text_, at + 1, kSpace);
    const bool has_attributes = holds(text_.substr(tag, at - tag), "=");
    return has_attributes && begin < text_.size() ? std::optional(Value{begin, Form::element})
                                                  : std::nullopt;
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
  std::size_t take(std::size_t begin, std::size_t end, const Value& value) {
    // A quoted value stays quoted, so that JSON stays JSON.
    const std::size_t secret = value.begin;
    if (text_[end] == open_) open_ = '\0';  // the quote after the name
    const std::size_t quote = skip_quote(text_, secret) - secret;
    const std::size_t last = end_of_secret(value);
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
        is_delimited(text_, value)
            ? last
            : end_of_bare_secret(text_.substr(begin, end - begin), end, secret, last);
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
  // x", "--password token='a b'".
  std::size_t end_of_secret(const Value& value) const {
    std::size_t end = end_of_value(text_, value);
    std::size_t measured = value.begin;  // values that begin before this end before `end`
    for (std::size_t i = value.begin; i < end;) {
      const std::size_t word_end = end_of(text_, i, is_word);
      const auto next = word_end > i ? announced_by(i, word_end) : std::nullopt;
      i = std::max(i + 1, word_end);
      if (!next || next->begin < measured) continue;
      const bool is_quoted = skip_quote(text_, next->begin) > next->begin;
      if (next->begin < end && !is_quoted && !is_delimited(text_, *next)) continue;
      end = std::max(end, end_of_value(text_, *next));
      if (is_quoted || is_delimited(text_, *next)) measured = end;
    }
    return end;
  }

  std::string_view text_;
  bool is_launchers_;
  Spans& found_;
  char open_ = '\0';
  bool names_a_secret_ = false;  // and its value follows later
  bool is_identified_ = false;
  std::size_t tag_ = kNone;  // the end of the private name of an open XML tag
  bool is_digest_ = false;   // HTTP's "Digest username=…, response=…"
};

}  // namespace

void find_assignments(std::string_view text, Origin origin, Spans& found) {
  Reader(text, origin, found).read();
}

}  // namespace hpcboot::redaction
