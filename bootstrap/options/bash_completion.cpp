#include "options/completion.hpp"

namespace hpcboot::options {
namespace {

// Shell code that offers the possible values. Without a reply, bash offers files (-o default).
// `compgen -W` expands its words, even $(…), so it gets only those of this program. Names that
// others choose, such as those of files, are read by `add`, a function of the script that quotes
// them.
std::string offer(const Value& value, const std::string& add) {
  const std::string words = offered_words(value);
  std::string code = words.empty() ? "" : "words='" + words + "'";
  const auto also = [&](const std::string& more) { code += (code.empty() ? "" : "; ") + more; };
  switch (value.completes) {
    case Completes::nothing:
      if (words.empty()) also("compopt +o default 2>/dev/null; return");
      break;
    case Completes::file:
      also("[[ -n $words ]] || return");
      break;
    case Completes::folder:
      also(
          "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")");
      also("[[ -n $words ]] || return");
      break;
    case Completes::program:
      also(add + " < <(compgen -c -- \"$current\"); return");
      break;
    case Completes::site:
      also(add + " < <(hpcboot completion --list sites 2>/dev/null)");
      break;
    case Completes::job:
      also(add + " < <(hpcboot completion --list jobs 2>/dev/null)");
      break;
    case Completes::run:
      also(add + " < <(compgen -d -- runs/)");
      break;
  }
  return code;
}

std::string options_of(const Command& command) {
  std::string words;
  for (const Group& group : command.groups) {
    for (const Option& option : group.options)
      words += (words.empty() ? "--" : " --") + option.long_name();
  }
  return words;
}

// The branches of a `case` over "verb option" in which the option's value is offered.
std::string value_cases(const Command& plain, const std::string& add) {
  const Command command = with_general_options(plain);
  std::string cases;
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      if (!option.value.semantic || option.value.name.empty()) continue;
      std::string pattern = "'" + command.verb + " --" + option.long_name() + "'";
      if (option.letter() != '\0') pattern += " | '" + command.verb + " -" + option.letter() + "'";
      cases += "    " + pattern + ") " + offer(option.value, add) + " ;;\n";
    }
  }
  return cases;
}

// The branch of a `case` over the verb in which options and operands are offered.
std::string word_case(const Command& plain, const std::string& more_words, const std::string& add) {
  const Command command = with_general_options(plain);
  std::string code = "      '" + command.verb +
                     "')\n        if [[ $current == -* ]]; then words='" + options_of(command) +
                     "'\n";
  std::string operand;
  if (!more_words.empty()) {
    operand = "words='" + more_words + "'";
  } else if (command.operands.size() == 1) {
    operand = offer(command.operands.front().value, add);
  } else if (command.operands.size() > 1) {
    // The first operand is a choice, what follows something else.
    operand = "if ((count == 0)); then " + offer(command.operands[0].value, add) + "; else " +
              offer(command.operands[1].value, add) + "; fi";
  }
  if (!operand.empty()) code += "        else " + operand + "\n";
  return code + "        fi ;;\n";
}

}  // namespace

Encoded bash_completion(const Program& program) {
  const std::string name = program.command.program;
  const std::string add = "_" + name + "_add";
  std::string verbs;
  for (const Command& verb : program.verbs) verbs += (verbs.empty() ? "" : " ") + verb.verb;
  std::string text =
      "# bash completion of " + name + "; written by " + name + ".\n" + add +
      "() { # the lines of the input that begin with the current word, quoted\n"
      "  local line\n"
      "  while IFS= read -r line; do\n"
      "    printf -v line %q \"$line\"\n"
      "    [[ $line != \"$current\"* ]] || COMPREPLY+=(\"$line\")\n"
      "  done\n"
      "}\n_" +
      name +
      "() {\n"
      "  local words='' verb='' current=${COMP_WORDS[COMP_CWORD]} option='' count=0 i\n"
      "  ((COMP_CWORD > 0)) && option=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  # --option=value is three words\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $option == = ]]; then\n"
      "    option=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n"
      "      --) return ;; # another program's\n"
      "      -* | =) ;;\n";
  if (program.verbs.empty()) {
    text += "      *) count=$((count + 1)) ;;\n";
  } else {
    text +=
        "      *) if ((i == 1)); then verb=${COMP_WORDS[i]}; else count=$((count + 1)); fi ;;\n";
  }
  text += "    esac\n  done\n";
  if (!program.verbs.empty()) {
    text += "  [[ ' " + verbs + " ' == *\" $verb \"* ]] || verb=''\n";
  }
  text += "  case \"$verb $option\" in\n" + value_cases(program.command, add);
  for (const Command& verb : program.verbs) text += value_cases(verb, add);
  text += "    *)\n      case $verb in\n";
  text += word_case(program.command, verbs, add);
  for (const Command& verb : program.verbs) text += word_case(verb, "", add);
  text +=
      "      esac ;;\n  esac\n"
      "  [[ -z $words ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W "
      "\"$words\" -- \"$current\")\n"
      "}\n"
      "complete -o default -F _" +
      name + " " + name + "\n";
  return Encoded::as_is(text);
}

}  // namespace hpcboot::options
