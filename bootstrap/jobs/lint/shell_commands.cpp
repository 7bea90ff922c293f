#include <algorithm>
#include <array>
#include <utility>

#include "core/contains.hpp"
#include "shell_parser.hpp"

namespace hpcboot::lint {
namespace {

// Keywords in command position, after which a command starts.
bool is_keyword(const std::string& word) {
  static constexpr std::array<const char*, 13> kKeywords = {"if", "then",  "else",  "elif", "fi",
                                                            "do", "while", "done",  "esac", "until",
                                                            "!",  "time",  "coproc"};
  return contains(kKeywords, word);
}

bool is_number(const Word& word) {
  return !word.text.empty() && std::all_of(word.text.begin(), word.text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

}  // namespace

Shell read_shell(std::string_view text) {
  return ShellParser(text).parse();
}

Shell ShellParser::parse() {
  read_commands('\0', 0);
  return std::move(shell_);
}

// Commands up to the character that ends them: ')' of a substitution, '`', or '\0' for the end.
void ShellParser::read_commands(char end, int depth) {
  Command command;
  HereDocuments documents;
  while (!at_end()) {
    const char c = peek();
    if (end != '\0' && c == end) {
      ++at_;
      break;
    }
    if (is_blank(c)) {
      ++at_;
    } else if (c == '\\' && peek(1) == '\n') {
      at_ += 2;
    } else if (c == '#') {
      read_comment(end);
    } else if (c == '\n') {
      finish(command, documents);
      ++at_;
      read_here_documents();
    } else if (c == '(') {
      read_parenthesis(command, documents, depth);
    } else if (c == '<' || c == '>' || (c == '&' && peek(1) == '>')) {
      read_redirection(command, documents, depth, end);
    } else if (c == ';' || c == '&' || c == '|' || c == ')') {
      command.in_background = c == '&' && peek(1) != '&' && (at_ == 0 || text_[at_ - 1] != '&');
      finish(command, documents);
      ++at_;
    } else {
      take_word(command, documents, depth, end);
    }
  }
  finish(command, documents);
}

void ShellParser::read_comment(char end) {
  const std::size_t from = at_;
  while (!at_end() && peek() != '\n' && !(end == '`' && peek() == '`')) ++at_;
  mark(from, Kind::comment);
}

void ShellParser::finish(Command& command, HereDocuments& documents) {
  for (HereDocument& document : documents) {
    document.command = shell_.commands.size();
    pending_.push_back(std::move(document));
  }
  const bool keep = !command.words.empty() || !command.assignments.empty() || !documents.empty();
  documents.clear();
  command.in_function = functions_ > 0;
  command.in_condition = conditions_ > 0;
  if (keep) shell_.commands.push_back(std::move(command));
  command = Command();
}

void ShellParser::read_parenthesis(Command& command, HereDocuments& documents, int depth) {
  std::size_t next = 1;
  while (is_blank(peek(next))) ++next;
  if (command.words.size() == 1 && command.assignments.empty() && peek(next) == ')') {
    command = Command();  // name(): a function
    function_ahead_ = true;
    at_ += next + 1;
    return;
  }
  const bool is_for = command.words.size() == 1 && command.words[0].text == "for";
  if ((command.words.empty() || is_for) && peek(1) == '(') {
    if (is_for) finish(command, documents);  // a `do` may follow without a ;
    Word ignored;
    at_ += 2;
    read_arithmetic(ignored, false);
    return;
  }
  finish(command, documents);
  ++at_;
  if (depth < kDeepest) read_commands(')', depth + 1);
}

void ShellParser::read_redirection(Command& command, HereDocuments& documents, int depth,
                                   char end) {
  if (peek(1) == '(') {  // <(…), a process substitution
    at_ += 2;
    if (depth < kDeepest) read_commands(')', depth + 1);
    return;
  }
  // A number directly before it is not an argument: 2>file.
  bool is_output = peek() == '>';
  if (!command.words.empty() && at_ > 0 && is_number(command.words.back()) &&
      command.words.back().at + command.words.back().text.size() == at_) {
    is_output = is_output && command.words.back().text == "1";
    command.words.pop_back();
  }
  const bool here = peek() == '<' && peek(1) == '<' && peek(2) != '<';
  const bool here_string = peek() == '<' && peek(1) == '<' && peek(2) == '<';
  HereDocument document;
  document.strips_tabs = here && peek(2) == '-';
  while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '|') ++at_;
  if (document.strips_tabs) ++at_;
  while (is_blank(peek())) ++at_;
  const std::size_t from = at_;
  const Word target = read_word(depth, end);
  if (here) {
    document.delimiter = target.text;
    document.expands =
        text_.substr(from, at_ - from).find_first_of("'\"\\") == std::string_view::npos;
    documents.push_back(document);
  } else if (here_string) {
    command.input.insert(command.input.end(), target.expansions.begin(), target.expansions.end());
  } else if (is_output) {
    command.output = target.text;
  }
}

void ShellParser::take_word(Command& command, HereDocuments& documents, int depth, char end) {
  const std::size_t from = at_;
  Word word = read_word(depth, end);
  if (at_ == from) {  // not the start of a word
    ++at_;
    return;
  }
  const std::string raw(text_.substr(from, at_ - from));
  if (command.words.empty() && command.assignments.empty()) {
    if (raw == "{" || raw == "}") {
      finish(command, documents);
      if (raw == "{") {
        functions_ += function_ahead_ ? 1 : 0;
        braces_.push_back(std::exchange(function_ahead_, false));
      } else if (!braces_.empty()) {
        functions_ -= braces_.back() ? 1 : 0;
        braces_.pop_back();
      }
      return;
    }
    if (raw == "if" || raw == "case") ++conditions_;
    if ((raw == "fi" || raw == "esac") && conditions_ > 0) --conditions_;
    if (is_keyword(raw) || raw == "-p") return;  // time -p
  }
  if (command.words.size() == 1 && command.words[0].text == "function") {
    command = Command();
    function_ahead_ = true;
    // The { may follow the name on the same line.
    return;
  }
  if (command.words.empty() && is_assignment(raw)) {
    command.assignments.push_back(std::move(word));
  } else {
    command.words.push_back(std::move(word));
  }
}

void ShellParser::read_here_documents() {
  for (const HereDocument& document : std::exchange(pending_, {})) {
    const std::size_t from = at_;
    std::size_t body_end = at_;
    while (!at_end()) {
      const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, line_end - at_);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (document.strips_tabs)
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      at_ = std::min(line_end + 1, text_.size());
      if (line == document.delimiter) break;
      body_end = at_;
    }
    if (document.expands) read_body(from, body_end, document.command);
    mark(from, Kind::here_document);
  }
}

void ShellParser::read_body(std::size_t from, std::size_t end, std::size_t command) {
  Word found;
  const std::size_t after = std::exchange(at_, from);
  while (at_ < end) {
    if (peek() == '\\') {
      at_ += 2;
    } else if (peek() == '$' && (is_name(peek(1)) || peek(1) == '{')) {
      read_plain(found, true, kDeepest);
    } else {
      ++at_;
    }
  }
  at_ = after;
  if (command < shell_.commands.size()) {
    auto& input = shell_.commands[command].input;
    input.insert(input.end(), found.expansions.begin(), found.expansions.end());
  }
}

}  // namespace hpcboot::lint
