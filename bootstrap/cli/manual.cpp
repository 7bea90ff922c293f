#include <sstream>

#include "help_text.hpp"
#include "hpcboot/version.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

// Lines as they are: nothing in them is an instruction to roff, and every - can be copied.
void print_literally(const std::string& text) {
  out() << ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) out() << "\\&";
    std::string escaped;
    for (const char c : line) {
      if (c == '\\' || c == '-') escaped += '\\';
      escaped += c == '\\' ? 'e' : c;
    }
    out() << escaped << "\n";
  }
  out() << ".fi\n";
}

int manual(const Arguments& arguments) {
  const auto values = parse(arguments,
                            "Usage: hpcboot manual | man -l -\n\n"
                            "Prints the manual page, hpcboot(1), for man: the --help of every "
                            "verb. An installation has it.\n",
                            boost::program_options::options_description("Options"));
  if (!values) return 0;
  std::ostringstream help;
  Terminal to_text(help);
  print_help(to_text);
  const std::string text = help.str();
  const std::size_t first = text.find('\n');
  out() << ".TH HPCBOOT 1 \"\" \"hpcboot " << version() << "\"\n.SH NAME\nhpcboot \\- "
        << text.substr(text.find(' ') + 1, first - text.find(' ') - 1) << "\n.SH DESCRIPTION\n";
  print_literally(text.substr(first + 2));
  for (const Verb* verb : verbs()) {
    out() << ".SH hpcboot " << verb->name << "\n";
    print_literally(help_of(*verb));
  }
  return 0;
}

}  // namespace

const Verb kManual{"manual", "print the manual page of this program", manual};

}  // namespace hpcboot::tool
