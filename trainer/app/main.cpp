#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "app/verbs.hpp"
#include "hpcboot/error.hpp"

namespace {

constexpr std::pair<std::string_view, int (*)(const hpcboot::app::Arguments&)> kVerbs[] = {
    {"convert", hpcboot::app::convert},
    {"digits", hpcboot::app::digits},
    {"inspect", hpcboot::app::inspect},
};

}  // namespace

int main(int argc, char** argv) {
  using namespace hpcboot;
  app::Arguments arguments(argv + 1, argv + argc);
  try {
    if (!arguments.empty() && arguments.front() == "--version") {
      std::puts("trainer " HPCBOOT_VERSION);
      return 0;
    }
    const std::string verb = arguments.empty() ? "" : arguments.front();
    for (const auto& [name, run] : kVerbs) {
      if (verb != name) continue;
      arguments.erase(arguments.begin());
      return run(arguments);
    }
    return app::train(arguments);
  } catch (const Error& error) {
    std::fputs(format_error("trainer", error).c_str(), stderr);
    return error.exit_code();
  } catch (const app::UsageError& error) {
    std::fprintf(stderr, "trainer: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trainer: %s\n", error.what());
    return 1;
  }
}
