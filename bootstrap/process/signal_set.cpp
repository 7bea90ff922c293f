#include "signal_set.hpp"

namespace hpcboot {
namespace {

bool is_size_signal_blocked = false;  // by this program

sigset_t size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

sigset_t not_ignored(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

void block_size_signal() {
  const sigset_t set = size_signal();
  sigset_t before;
  if (pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && sigismember(&before, SIGXFSZ) == 0)
    is_size_signal_blocked = true;
}

void restore_size_signal() {
  if (!is_size_signal_blocked) return;
  const sigset_t set = size_signal();
  const timespec none{};
  sigtimedwait(&set, nullptr, &none);  // of a write that has failed
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace hpcboot
