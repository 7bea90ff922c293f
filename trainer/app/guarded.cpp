#include "app/guarded.hpp"

#include <fcntl.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "app/verbs.hpp"
#include "hpcboot/error.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
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
  const Error error(ErrorCode::out_of_memory,
                    std::string("this host has too little memory: ") + what,
                    "enough memory for the data and the options",
                    "use less data (--limit-samples, a smaller file), or a host with more memory");
  print_error("trainer", error);
  return error.exit_code();
}

}  // namespace

int guarded(const std::function<int()>& body) {
  fill_standard_streams();
  try {
    return body();
  } catch (const Error& error) {
    print_error("trainer", error);
    return error.exit_code();
  } catch (const options::UsageError& error) {
    err() << "trainer: " << error.what() << "\n";
    return 2;
  } catch (const UsageError& error) {
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

}  // namespace hpcboot::app
