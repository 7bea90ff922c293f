// The part of the trainer with LibTorch, which the program `trainer` starts.
#include <string>
#include <utility>

#include "app/guarded.hpp"
#include "app/libtorch_verbs.hpp"

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
  return app::guarded([&] { return run({argv + 1, argv + argc}); });
}
