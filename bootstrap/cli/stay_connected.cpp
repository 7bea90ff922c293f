#include "stay_connected.hpp"

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

namespace hpcboot::tool {
namespace {

std::atomic<bool> is_staying{false};

}  // namespace

void stay_connected() {
  is_staying = true;
}

}  // namespace hpcboot::tool

// Replaces the C library's shutdown(), also for libraries that are opened later. close() alone does
// not end a connection that has a second descriptor.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
extern "C" __attribute__((visibility("default"))) int shutdown(int fd, int how) noexcept {
  // A duplicate is not closed on exec.
  if (hpcboot::tool::is_staying && ::dup(fd) >= 0) return 0;
  static const auto next = reinterpret_cast<int (*)(int, int)>(::dlsym(RTLD_NEXT, "shutdown"));
  return next(fd, how);
}
