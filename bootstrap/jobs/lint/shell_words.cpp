#include <algorithm>

#include "shell_parser.hpp"

namespace hpcboot::lint {
namespace {

bool ends_word(char c) {
  return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
         c == '(' || c == ')';
}

}  // namespace

bool is_assignment(std::string_view raw) {
  std::size_t n = 0;
  while (n < raw.size() && is_name(raw[n])) ++n;
  if (n == 0 || std::isdigit(static_cast<unsigned char>(raw[0])) != 0) return false;
  if (n < raw.size() && raw[n] == '+') ++n;
  return n < raw.size() && raw[n] == '=';
}

void ShellParser::mark(std::size_t from, Kind kind) {
  std::fill(shell_.kinds.begin() + static_cast<std::ptrdiff_t>(from),
            shell_.kinds.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), kind);
}

Word ShellParser::read_word(int depth, char end) {
  Word word;
  word.at = at_;
  bool assigns = false;
  while (!at_end()) {
    const char c = peek();
    assigns = assigns || (c == '(' && is_assignment(word.text));
    if (c == '(' && assigns && word.text.back() == '=') {
      read_array(word, depth, end);
    } else if (ends_word(c) || (end != '\0' && c == end)) {
      break;
    } else if (c == '\\') {
      if (peek(1) != '\n' && at_ + 1 < text_.size()) word.text += peek(1);
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '\'') {
      read_single_quoted(word, false);
    } else if (c == '"') {
      read_double_quoted(word, depth);
    } else {
      read_plain(word, false, depth);
    }
  }
  return word;
}

// a=(x y): the words within belong to the assignment.
void ShellParser::read_array(Word& word, int depth, char end) {
  ++at_;
  while (!at_end() && peek() != ')') {
    if (is_blank(peek()) || peek() == '\n') {
      ++at_;
      continue;
    }
    if (peek() == '#') {
      read_comment(end);
      continue;
    }
    const std::size_t from = at_;
    Word element;
    if (depth < kDeepest) element = read_word(depth + 1, ')');
    if (at_ == from) ++at_;
    word.text += ' ' + element.text;
    word.expansions.insert(word.expansions.end(), element.expansions.begin(),
                           element.expansions.end());
  }
  ++at_;
}

void ShellParser::read_single_quoted(Word& word, bool ansi) {
  const std::size_t from = at_++;
  while (!at_end() && peek() != '\'') {
    if (ansi && peek() == '\\' && at_ + 1 < text_.size()) ++at_;
    word.text += peek();
    ++at_;
  }
  ++at_;
  mark(from, Kind::single_quoted);
  at_ = std::min(at_, text_.size());
}

void ShellParser::read_double_quoted(Word& word, int depth) {
  std::size_t from = at_++;
  while (!at_end() && peek() != '"') {
    if (peek() == '\\' && at_ + 1 < text_.size()) {
      word.text += peek(1);
      at_ += 2;
    } else {
      // Commands in a substitution are code, even within quotes.
      mark(from, Kind::double_quoted);
      const bool substitution = peek() == '`' || (peek() == '$' && peek(1) == '(');
      from = at_;
      read_plain(word, true, depth);
      if (substitution) from = at_;
    }
  }
  ++at_;
  mark(from, Kind::double_quoted);
  at_ = std::min(at_, text_.size());
}

// One character, or an expansion that starts with $ or `.
void ShellParser::read_plain(Word& word, bool quoted, int depth) {
  const std::size_t from = at_;
  const char c = peek();
  if (c == '`' && depth < kDeepest) {
    ++at_;
    read_commands('`', depth + 1);
  } else if (c != '$') {
    ++at_;
  } else if (peek(1) == '\'' && !quoted) {
    ++at_;
    read_single_quoted(word, true);
    return;
  } else if (peek(1) == '(' && peek(2) == '(') {
    at_ += 3;
    read_arithmetic(word, quoted);
  } else if (peek(1) == '(' && depth < kDeepest) {
    at_ += 2;
    read_commands(')', depth + 1);
  } else if (peek(1) == '{') {
    read_braced(word, quoted, depth);
  } else {
    ++at_;
    const std::size_t name = at_;
    while (is_name(peek())) ++at_;
    if (at_ > name)
      word.expansions.push_back({std::string(text_.substr(name, at_ - name)), from, quoted});
  }
  at_ = std::min(at_, text_.size());
  word.text += text_.substr(from, at_ - from);
}

// From after (( to )): names without a $ also count.
void ShellParser::read_arithmetic(Word& word, bool quoted) {
  int open = 2;
  while (!at_end() && open > 0) {
    const std::size_t from = at_;
    while (is_name(peek())) ++at_;
    if (at_ > from) {
      const std::string name(text_.substr(from, at_ - from));
      if (std::isdigit(static_cast<unsigned char>(name[0])) == 0)
        word.expansions.push_back({name, from, quoted});
      continue;
    }
    if (peek() == '(') ++open;
    if (peek() == ')') --open;
    ++at_;
  }
}

// ${name}, ${#name}, ${name:-$other}, ${name/'a'/b}
void ShellParser::read_braced(Word& word, bool quoted, int depth) {
  const std::size_t from = at_;
  at_ += 2;
  if (peek() == '#' || peek() == '!') ++at_;
  const std::size_t name = at_;
  while (is_name(peek())) ++at_;
  if (at_ > name)
    word.expansions.push_back({std::string(text_.substr(name, at_ - name)), from, quoted});
  Word inner;
  while (!at_end() && peek() != '}') {
    if (peek() == '\\') {
      at_ += 2;
    } else if (peek() == '\'' && !quoted) {
      read_single_quoted(inner, false);
    } else if (peek() == '"') {
      if (depth >= kDeepest) {
        ++at_;
      } else {
        read_double_quoted(inner, depth + 1);
      }
    } else if (depth < kDeepest) {
      read_plain(inner, quoted, depth + 1);
    } else {
      ++at_;
    }
  }
  ++at_;
  word.expansions.insert(word.expansions.end(), inner.expansions.begin(), inner.expansions.end());
}

}  // namespace hpcboot::lint
