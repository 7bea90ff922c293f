#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "app/verbs.hpp"
#include "hpcboot/error.hpp"
#include "options/help.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"

namespace {

// If a standard stream is closed at the start, the next file that is opened takes its descriptor,
// and the program's output goes into that file.
void fill_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    // open() returns the lowest free descriptor, which is this one.
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return;
  }
}

int too_large(const char* what) {
  const hpcboot::Error error(
      hpcboot::ErrorCode::out_of_memory, std::string("this host has too little memory: ") + what,
      "enough memory for the data and the options",
      "use less data (--limit-samples, a smaller file), or a host with more memory");
  hpcboot::print_error("trainer", error);
  return error.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hpcboot;
  fill_standard_streams();
  app::Arguments arguments(argv + 1, argv + argc);
  try {
    if (!arguments.empty() && arguments.front() == "--version") {
      out() << "trainer " HPCBOOT_VERSION "\n";
      return app::flushed(0);
    }
    const std::string verb = arguments.empty() ? "" : arguments.front();
    if (verb == "--help" || verb == "-h") {
      out() << options::help_text(app::program(), options::help_width(), has_colour(STDOUT_FILENO));
      return app::flushed(0);
    }
    for (const app::Verb* one : app::verbs()) {
      if (verb != one->command().verb) continue;
      arguments.erase(arguments.begin());
      return app::flushed(one->run(arguments));
    }
    return app::train(arguments);
  } catch (const Error& error) {
    print_error("trainer", error);
    return error.exit_code();
  } catch (const options::UsageError& error) {
    err() << "trainer: " << error.what() << "\n";
    return 2;
  } catch (const app::UsageError& error) {
    err() << "trainer: " << error.what() << "\n";
    return 2;
  } catch (const std::bad_alloc& error) {
    return too_large(error.what());
  } catch (const std::length_error& error) {
    return too_large(error.what());
  } catch (const std::exception& error) {
    err() << "trainer: " << error.what() << "\n";
    return 1;
  }
}
