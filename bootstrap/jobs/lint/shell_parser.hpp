#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "shell_reader.hpp"

// The parser behind read_shell(): a recursive descent over commands (shell_commands.cpp) and words
// (shell_words.cpp), which nest through substitutions.
namespace hpcboot::lint {

inline bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Does the word start with NAME= or NAME+=?
bool is_assignment(std::string_view raw);

class ShellParser {
 public:
  explicit ShellParser(std::string_view text) : text_(text) {
    shell_.kinds.assign(text.size(), Kind::code);
  }

  Shell parse();

 private:
  static constexpr int kDeepest = 64;  // nested substitutions; deeper ones are plain characters

  struct HereDocument {
    std::string delimiter;
    bool expands = true;
    bool strips_tabs = false;
    std::size_t command = 0;
  };
  using HereDocuments = std::vector<HereDocument>;

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }
  // Marks everything read since `from` as `kind`.
  void mark(std::size_t from, Kind kind);

  // Commands up to the character that ends them: ')' of a substitution, '`', or '\0' for the end.
  void read_commands(char end, int depth);
  void read_comment(char end);
  void finish(Command& command, HereDocuments& documents);
  void read_parenthesis(Command& command, HereDocuments& documents, int depth);
  void read_redirection(Command& command, HereDocuments& documents, int depth, char end);
  void take_word(Command& command, HereDocuments& documents, int depth, char end);
  void read_here_documents();
  void read_body(std::size_t from, std::size_t end, std::size_t command);

  Word read_word(int depth, char end);
  void read_array(Word& word, int depth, char end);
  void read_single_quoted(Word& word, bool ansi);
  void read_double_quoted(Word& word, int depth);
  void read_plain(Word& word, bool quoted, int depth);
  void read_arithmetic(Word& word, bool quoted);
  void read_braced(Word& word, bool quoted, int depth);

  std::string_view text_;
  std::size_t at_ = 0;
  Shell shell_;
  HereDocuments pending_;
  std::vector<bool> braces_;  // for each open {: does it start a function?
  int functions_ = 0;         // how many of them do
  bool function_ahead_ = false;
  int conditions_ = 0;  // open if and case
};

}  // namespace hpcboot::lint
