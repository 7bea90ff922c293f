#include "datasets/in_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace hpcboot::data {
namespace {

using Clock = std::chrono::steady_clock;

// No inherited handler reports a crash in the child, and it leaves no core file.
void crash_quietly() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT})
    ::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

// Waits until the other end is closed, as it is when the child ends. @return false after the limit
bool await_end(int fd, std::chrono::seconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready > 0) return true;
    if (left <= 0) return false;
    if (ready < 0 && errno != EINTR) return true;  // fall back to waitpid()
  }
}

}  // namespace

std::string trouble_in_child(const std::function<void()>& work, std::chrono::seconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    crash_quietly();
    try {
      work();
    } catch (...) {
      ::_exit(0);  // the parent meets the same error and reports it
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  const bool is_late = child > 0 && !await_end(ends[0], limit);
  ::close(ends[0]);
  if (child < 0) return "";
  if (is_late) ::kill(child, SIGKILL);
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (is_late) return "not finished within " + std::to_string(limit.count()) + " s";
  if (ended != child || !WIFSIGNALED(status)) return "";
  return ::strsignal(WTERMSIG(status));
}

}  // namespace hpcboot::data
