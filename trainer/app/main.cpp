#include <fcntl.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
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

// A program that was started with a closed stream would open its next file in that place, and write
// its lines into it.
void fill_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    // The lowest number that is free is this one.
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return;
  }
}

// What was asked for stands on standard output, whole.
int flushed(int code) {
  if (std::cout.flush() && std::fflush(stdout) == 0) return code;
  std::fputs("trainer: standard output cannot be written\n", stderr);
  return code == 0 ? 1 : code;
}

int too_large(const char* what) {
  const hpcboot::Error error(
      hpcboot::ErrorCode::out_of_memory,
      std::string("the memory of this host does not suffice: ") + what,
      "as much as the data and the options ask for",
      "take less at a time (--limit-samples, a smaller file), or a host with more memory");
  std::fputs(format_error("trainer", error).c_str(), stderr);
  return error.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hpcboot;
  fill_standard_streams();
  app::Arguments arguments(argv + 1, argv + argc);
  try {
    if (!arguments.empty() && arguments.front() == "--version") {
      std::puts("trainer " HPCBOOT_VERSION);
      return flushed(0);
    }
    const std::string verb = arguments.empty() ? "" : arguments.front();
    for (const auto& [name, run] : kVerbs) {
      if (verb != name) continue;
      arguments.erase(arguments.begin());
      return flushed(run(arguments));
    }
    return app::train(arguments);
  } catch (const Error& error) {
    std::fputs(format_error("trainer", error).c_str(), stderr);
    return error.exit_code();
  } catch (const app::UsageError& error) {
    std::fprintf(stderr, "trainer: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc& error) {
    return too_large(error.what());
  } catch (const std::length_error& error) {
    return too_large(error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trainer: %s\n", error.what());
    return 1;
  }
}
