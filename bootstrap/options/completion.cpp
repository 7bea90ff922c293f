#include "options/completion.hpp"

namespace hpcboot::options {

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names = {"bash", "zsh", "fish"};
  return names;
}

std::string offered_words(const Value& value) {
  std::string words;
  for (const auto* some : {&value.choices, &value.suggestions}) {
    for (const std::string& word : *some) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

Encoded shell_completion(const Program& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

}  // namespace hpcboot::options
