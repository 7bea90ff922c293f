#include "options/completion.hpp"

namespace hpcboot::options {

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names = {"bash", "zsh", "fish"};
  return names;
}

Encoded shell_completion(const Program& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  throw UsageError("no completion for '" + shell + "'; expected " + one_of(shells()));
}

}  // namespace hpcboot::options
