// The part of the trainer with LibTorch, which the program `trainer` starts.
#include <string>

#include "app/guarded.hpp"
#include "app/libtorch_verbs.hpp"

namespace {

using namespace hpcboot;

int run(app::Arguments arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  if (verb != "convert" && verb != "inspect") return app::train(arguments);
  arguments.erase(arguments.begin());
  return app::flushed(verb == "convert" ? app::convert(arguments) : app::inspect(arguments));
}

}  // namespace

int main(int argc, char** argv) {
  return app::guarded([&] { return run({argv + 1, argv + argc}); });
}
