#include "options/completion.hpp"
#include "options/help.hpp"

namespace hpcboot::options {
namespace {

// For a specification of _arguments within single quotes.
std::string in_specification(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  }
  return safe;
}

// The possible values, as an action of _arguments; within single quotes.
std::string action(const Value& value) {
  const std::string words = offered_words(value);
  switch (value.completes) {
    case Completes::nothing:
      return words.empty() ? " " : "(" + words + ")";
    case Completes::file:
      return words.empty() ? "_files" : "{ compadd " + words + "; _files }";
    case Completes::folder:
      return words.empty() ? "_files -/" : "{ compadd " + words + "; _files -/ }";
    case Completes::program:
      return "_command_names -e";
    case Completes::site:
      return "{ compadd " + words +
             " -- ${(f)\"$(hpcboot completion --list sites 2>/dev/null)\"} }";
    case Completes::job:
      return "{ compadd " + words + " -- ${(f)\"$(hpcboot completion --list jobs 2>/dev/null)\"} }";
    case Completes::run:
      return "{ compadd " + words + "; _files -/ -W runs -P runs/ }";
  }
  return " ";
}

std::string specifications(const Command& plain, const std::string& indent) {
  const Command command = with_general_options(plain);
  std::string text;
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      const std::string help = "[" + in_specification(described(option)) + "]";
      const std::string value = option.value.name.empty()
                                    ? ""
                                    : (option.value.is_optional ? "::" : ":") +
                                          in_specification(option.value.name) + ":" +
                                          action(option.value);
      const std::string repeated = option.value.repeats ? "*" : "";
      const std::string assigned = option.value.name.empty() ? "" : "=";
      text += " \\\n" + indent + "'" + repeated + "--" + option.long_name() + assigned + help +
              value + "'";
      if (option.letter() != '\0')
        text += " \\\n" + indent + "'" + repeated + "-" + option.letter() + help + value + "'";
    }
  }
  int position = 1;
  for (const Operand& operand : command.operands) {
    const std::string where = operand.most == 1 ? std::to_string(position++) : "*";
    text += " \\\n" + indent + "'" + where + ":" + in_specification(operand.value.name) + ":" +
            action(operand.value) + "'";
  }
  if (command.takes_program) text += " \\\n" + indent + "'*::program:_normal'";
  return text;
}

}  // namespace

Encoded zsh_completion(const Program& program) {
  const std::string name = program.command.program;
  std::string text =
      "#compdef " + name + "\n# zsh completion of " + name + "; written by " + name + ".\n";
  if (program.verbs.empty())
    return Encoded::as_is(text + "_arguments -s -S" + specifications(program.command, "  ") + "\n");
  text +=
      "local context state state_descr line\ntypeset -A opt_args\n"
      "local -a verbs\nverbs=(\n";
  for (const Command& verb : program.verbs)
    text += "  '" + verb.verb + ":" + in_specification(verb.summary) + "'\n";
  text +=
      ")\nif (( CURRENT > 2 )) && [[ ${verbs[(r)$words[2]:*]} != '' ]]; then\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const Command& verb : program.verbs)
    text += "    " + verb.verb + ")\n      _arguments -s -S" + specifications(verb, "        ") +
            " ;;\n";
  text += "  esac\nelse\n  _arguments -s -S" + specifications(program.command, "    ") +
          " \\\n    '1:verb:{ _describe verb verbs }'\nfi\n";
  return Encoded::as_is(text);
}

}  // namespace hpcboot::options
