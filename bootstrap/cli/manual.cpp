#include "options.hpp"
#include "options/man_page.hpp"

namespace hpcboot::tool {
namespace {

options::Command manual_command() {
  options::Command command{
      "hpcboot",
      "manual",
      "print the manual page of this program",
      {"hpcboot manual | man -l -"},
      {{"hpcboot manual | man -l -", "read it"}, {"hpcboot manual >hpcboot.1", "keep it"}}};
  command.details = {"Once hpcboot is installed, `man hpcboot` shows it."};
  command.exit_codes = {{"0", "ok"}, {"2", "the command line is wrong"}};
  return command;
}

int manual(const Call& /*call*/) {
  out() << options::man_page(program());
  return 0;
}

}  // namespace

const Verb kManual{manual_command, manual};

}  // namespace hpcboot::tool
