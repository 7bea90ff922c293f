#include "options/completion.hpp"

namespace hpcboot::options {
namespace {

std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe + "'";
}

// The arguments of `complete` that fish_offer the possible values.
std::string fish_offer(const Value& value) {
  const std::string words = offered_words(value);
  const std::string more = words.empty() ? "" : words + " ";
  switch (value.completes) {
    case Completes::nothing:
      return words.empty() ? " -x" : " -x -a " + quoted(words);
    case Completes::file:
      return words.empty() ? " -r -F" : " -r -F -a " + quoted(words);
    case Completes::folder:
      return " -x -a " + quoted(more + "(__fish_complete_directories)");
    case Completes::program:
      return " -x -a " + quoted(more + "(__fish_complete_command)");
    case Completes::site:
      return " -x -a " + quoted(more + "(hpcboot completion --list sites 2>/dev/null)");
    case Completes::job:
      return " -x -a " + quoted(more + "(hpcboot completion --list jobs 2>/dev/null)");
    case Completes::run:
      return " -x -a " + quoted(more + "(__fish_complete_directories runs/)");
  }
  return "";
}

std::string lines_of(const Command& plain, const std::string& condition) {
  const Command command = with_general_options(plain);
  const std::string start = "complete -c " + command.program + condition;
  std::string text;
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      text += start + " -l " + option.long_name();
      if (option.letter() != '\0') text += std::string(" -s ") + option.letter();
      if (!option.value.name.empty()) text += fish_offer(option.value);
      text += " -d " + quoted(option.help) + "\n";
    }
  }
  for (const Operand& operand : command.operands) text += start + fish_offer(operand.value) + "\n";
  return text;
}

}  // namespace

Encoded fish_completion(const Program& program) {
  const std::string name = program.command.program;
  std::string text = "# fish completion of " + name + "; written by " + name + ".\n";
  text += lines_of(program.command, program.verbs.empty() ? "" : " -n __fish_use_subcommand");
  for (const Command& verb : program.verbs) {
    text += "complete -c " + name + " -n __fish_use_subcommand -x -a " + verb.verb + " -d " +
            quoted(verb.summary) + "\n";
    text += lines_of(verb, " -n '__fish_seen_subcommand_from " + verb.verb + "'");
  }
  return Encoded::as_is(text);
}

}  // namespace hpcboot::options
