#include "held_signals.hpp"

#include <initializer_list>

#include "process/signal_set.hpp"

namespace hpcboot::tool {

HeldSignals::HeldSignals() : held_(not_ignored({SIGINT, SIGTERM, SIGHUP})) {
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
