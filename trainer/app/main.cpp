// The program `trainer`: its command line, and what needs no LibTorch. Loading LibTorch takes
// 0.4 s; what needs it is another program, which replaces this one.
#include <unistd.h>

#include <string>

#include "app/guarded.hpp"
#include "app/verbs.hpp"
#include "options/help.hpp"
#include "options/wrong_value.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"

namespace {

using namespace hpcboot;

int run(app::Arguments arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  if (verb == "--version") {
    out() << "trainer " HPCBOOT_VERSION "\n";
    return app::flushed(0);
  }
  if (verb == "--help" || verb == "-h") {
    out() << options::help_text(app::program(), options::help_width(), has_colour(STDOUT_FILENO));
    return app::flushed(0);
  }
  for (const app::Verb* one : app::verbs()) {
    if (verb != one->command().verb) continue;
    arguments.erase(arguments.begin());
    return app::flushed(one->run(arguments));
  }
  if (const std::string wrong = options::wrong_verb(app::program(), verb, true); !wrong.empty())
    throw options::UsageError(wrong);
  return app::hand_over_training(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return app::guarded([&] { return run({argv + 1, argv + argc}); });
}
