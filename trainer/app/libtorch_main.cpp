// The part of the trainer with LibTorch, which the program `trainer` starts.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "app/guarded.hpp"
#include "app/libtorch_verbs.hpp"
#include "text/terminal.hpp"

namespace {

using namespace hpcboot;

int run(app::Arguments arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  const std::pair<const char*, int (*)(const app::Arguments&)> verbs[] = {
      {"convert", app::convert}, {"inspect", app::inspect}, {"bench", app::bench}};
  for (const auto& [name, run_verb] : verbs) {
    if (verb != name) continue;
    arguments.erase(arguments.begin());
    return app::flushed(run_verb(arguments));
  }
  return app::train(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const int code = app::guarded([&] { return run({argv + 1, argv + argc}); });
  hpcboot::out().flush();
  std::fflush(nullptr);
  // Not return: LibTorch unregisters its operators one by one, which takes longer than a step of a
  // small model.
  ::_exit(code);
}
