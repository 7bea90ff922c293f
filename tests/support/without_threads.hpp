#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>

namespace hpcboot::test {

/// Runs `body` in a process that the limit on processes lets start no thread; as an ordinary user,
/// since the limit does not bind root.
/// @return what `body` returned, false if it threw; nullopt if no such process can be made here
inline std::optional<bool> holds_without_threads(const std::function<bool()>& body) {
  constexpr uid_t kNobody = 65534;
  constexpr int kCannotBe = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    const bool is_bound = (::geteuid() != 0 || ::setresuid(kNobody, kNobody, kNobody) == 0) &&
                          ::setrlimit(RLIMIT_NPROC, &none) == 0;
    try {
      std::thread([] {}).join();
      ::_exit(kCannotBe);
    } catch (const std::system_error&) {
      if (!is_bound) ::_exit(kCannotBe);
    }
    try {
      ::_exit(body() ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "thrown without threads: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotBe) return std::nullopt;
  return status == 0;
}

}  // namespace hpcboot::test
