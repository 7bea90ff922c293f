#pragma once

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace hpcboot {

// @throws Error{exchange_failed}
[[noreturn]] void fail_thread(const std::system_error& reason);

// @throws Error{exchange_failed} if the limits of this process allow no further thread
template <typename Body>
std::thread start_thread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    fail_thread(error);
  }
}

// A thread that takes no signals: they belong to the thread that reads them.
// @throws as start_thread()
template <typename Body>
std::thread thread_without_signals(Body body) {
  // Blocks them in this thread, which the new one inherits, and also ends if none can be started.
  struct AllBlocked {
    AllBlocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &own);
    }
    ~AllBlocked() { pthread_sigmask(SIG_SETMASK, &own, nullptr); }
    AllBlocked(const AllBlocked&) = delete;
    AllBlocked& operator=(const AllBlocked&) = delete;
    sigset_t own{};
  };
  const AllBlocked blocked;
  return start_thread(std::move(body));
}

}  // namespace hpcboot
