#include "command_words.hpp"

#include "text.hpp"

namespace hpcboot::redaction {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

bool is_end_of_command(char c) {
  return c == '\n' || c == ';' || c == '|' || c == '&';
}

std::vector<CommandWord> command_words(std::string_view text, Quotes quotes) {
  std::vector<CommandWord> words;
  for (std::size_t i = 0; i < text.size();) {
    if (is_end_of_command(text[i])) {
      words.push_back({i, i + 1});
      ++i;
      continue;
    }
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && !is_space(text[i]) && !is_end_of_command(text[i])) {
      // An apostrophe within a word opens no quote.
      const bool opens = quotes == Quotes::join && is_quote(text[i]) &&
                         (i == begin || !is_alphanumeric(text[i - 1]));
      const std::size_t close = opens ? text.find(text[i], i + 1) : kNone;
      i = close == kNone ? i + 1 : close + 1;
      if (close != kNone && i < text.size() && text[i] == ',') break;  // ["mysql","-px"]
    }
    words.push_back({begin, i});
  }
  return words;
}

std::string_view unquoted(std::string_view word) {
  while (!word.empty() && holds("\"'`([{,", word.substr(0, 1))) word.remove_prefix(1);
  while (!word.empty() && holds("\"'`)]},", word.substr(word.size() - 1))) word.remove_suffix(1);
  return word;
}

std::string_view program_of(std::string_view word) {
  word = unquoted(word);
  return word.substr(word.find_last_of("/=(`'\"") + 1);
}

}  // namespace hpcboot::redaction
