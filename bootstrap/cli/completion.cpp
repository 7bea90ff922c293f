#include "help_text.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The branches of a `case` over the verbs that hold the words after each; the same in both shells.
void print_cases(const char* assignment, const char* end) {
  for (const Verb* verb : verbs()) {
    out() << "    " << verb->name << ") " << assignment << joined(words_after(*verb)) << end
          << " ;;\n";
  }
}

void print_bash() {
  out() << "# bash completion of hpcboot; written by `hpcboot completion bash`.\n"
           "_hpcboot() {\n"
           "  local words=\n"
           "  if ((COMP_CWORD == 1)); then\n"
           "    words='";
  for (const Verb* verb : verbs()) out() << verb->name << " ";
  out() << "--help --version'\n"
           "  else\n"
           "    case ${COMP_WORDS[1]} in\n";
  print_cases("words='", "'");
  out() << "    esac\n"
           "  fi\n"
           "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
           "}\n"
           "complete -o default -F _hpcboot hpcboot\n";
}

void print_zsh() {
  out() << "#compdef hpcboot\n"
           "# zsh completion of hpcboot; written by `hpcboot completion zsh`.\n"
           "local -a choices\n"
           "if (( CURRENT == 2 )); then\n"
           "  choices=(\n";
  for (const Verb* verb : verbs()) {
    // _describe takes the first colon for its separator; quotes do not occur in a summary.
    out() << "    '" << verb->name << ":" << verb->summary << "'\n";
  }
  out() << "  )\n"
           "  _describe verb choices\n"
           "else\n"
           "  case $words[2] in\n";
  print_cases("choices=(", ")");
  out() << "  esac\n"
           "  compadd -a choices\n"
           "  _files\n"
           "fi\n";
}

int completion(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("shell", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("shell", 1);
  const auto values =
      parse(arguments,
            "Usage: hpcboot completion bash|zsh\n\n"
            "Prints a script with which the shell completes verbs and options. An installation "
            "has it\n"
            "where bash-completion and zsh look; without one:\n"
            "  source <(hpcboot completion bash)\n"
            "  hpcboot completion zsh >~/.zfunc/_hpcboot     with ~/.zfunc in fpath\n",
            po::options_description("Options"), hidden, positional);
  if (!values) return 0;
  const std::string shell =
      values->count("shell") != 0 ? (*values)["shell"].as<std::string>() : std::string();
  if (shell == "bash") {
    print_bash();
  } else if (shell == "zsh") {
    print_zsh();
  } else {
    throw UsageError("completion takes bash or zsh");
  }
  return 0;
}

}  // namespace

const Verb kCompletion{"completion", "print the script that completes this program in a shell",
                       completion};

}  // namespace hpcboot::tool
