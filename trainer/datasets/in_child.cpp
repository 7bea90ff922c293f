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

// Nobody's handler tells of a crash here, and no core is left.
void crash_quietly() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT})
    ::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

// Until the other end is closed, which the child's end does. @return false if it is late
bool await_end(int fd, std::chrono::seconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready > 0) return true;
    if (left <= 0) return false;
    if (ready < 0 && errno != EINTR) return true;  // waitpid() has to do
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
      ::_exit(0);  // it will be thrown where it can be told
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
  if (is_late) return "no end within " + std::to_string(limit.count()) + " s";
  if (ended != child || !WIFSIGNALED(status)) return "";
  return ::strsignal(WTERMSIG(status));
}

}  // namespace hpcboot::data
