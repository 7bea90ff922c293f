#include "held_signals.hpp"

#include <initializer_list>

namespace hpcboot::tool {

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&held_, number);
  }
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::is_pending() const {
  sigset_t pending;
  sigpending(&pending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&held_, number) == 1 && sigismember(&pending, number) == 1) return true;
  }
  return false;
}

}  // namespace hpcboot::tool
