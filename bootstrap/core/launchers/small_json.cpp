#include "small_json.hpp"

#include <algorithm>
#include <charconv>

namespace hpcboot {
namespace {

constexpr std::size_t kLongest = std::size_t{4} << 20U;
constexpr int kDeepest = 8;

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<SmallJson> parse() {
    SmallJson value;
    if (!parse_value(value, 0)) return std::nullopt;
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    return value;
  }

 private:
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool take(char expected) {
    skip_space();
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool parse_value(SmallJson& value, int depth) {
    skip_space();
    if (rest_.empty() || depth > kDeepest) return false;
    switch (rest_.front()) {
      case '{':
        return parse_object(value, depth);
      case '[':
        return parse_list(value, depth);
      case '"':
        value.kind = SmallJson::Kind::text;
        return parse_text(value.text);
      case 't':
      case 'f':
        value.kind = SmallJson::Kind::boolean;
        return take_word("true") || take_word("false");
      case 'n':
        return take_word("null");
      default:
        return parse_number(value);
    }
  }

  bool parse_number(SmallJson& value) {
    const std::size_t end = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    value.kind = SmallJson::Kind::number;
    value.text = std::string(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return !value.text.empty() && value.text != "-";
  }

  bool parse_list(SmallJson& value, int depth) {
    value.kind = SmallJson::Kind::list;
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      value.items.emplace_back();
      if (!parse_value(value.items.back(), depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  bool parse_object(SmallJson& value, int depth) {
    value.kind = SmallJson::Kind::object;
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      value.members.emplace_back();
      skip_space();
      if (!parse_text(value.members.back().first) || !take(':') ||
          !parse_value(value.members.back().second, depth + 1))
        return false;
    } while (take(','));
    return take('}');
  }

  bool parse_text(std::string& text) {
    if (rest_.empty() || rest_.front() != '"') return false;
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < ' ') return false;
      if (c != '\\') {
        text += c;
      } else if (!parse_escape(text)) {
        return false;
      }
    }
    return false;
  }

  bool parse_escape(std::string& text) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t place = kLetters.find(c);
    if (place != std::string_view::npos) {
      text += kMeanings[place];
      return true;
    }
    if (c != 'u' || rest_.size() < 4) return false;
    unsigned code = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
    if (failure != std::errc() || end != rest_.data() + 4) return false;
    rest_.remove_prefix(4);
    text += code < 0x80 ? static_cast<char>(code) : '?';
    return true;
  }

  std::string_view rest_;
};

}  // namespace

const SmallJson* SmallJson::find(std::string_view name) const {
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const auto& member) { return member.first == name; });
  return found == members.rend() ? nullptr : &found->second;
}

std::optional<SmallJson> parse_small_json(std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  return Parser(text).parse();
}

}  // namespace hpcboot
