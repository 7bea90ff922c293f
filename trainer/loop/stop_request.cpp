#include "loop/stop_request.hpp"

#include <time.h>
#include <unistd.h>

#include "hpcboot/error.hpp"

namespace hpcboot::train {
namespace {

constexpr time_t kSameRequest = 2;  // seconds

volatile std::sig_atomic_t caught = 0;
volatile time_t caught_at = 0;
volatile std::sig_atomic_t ranks_meet = 0;

bool ends_a_meeting(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP;
}

bool is_ignored(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kStopSignals) sigaddset(&set, number);
  return set;
}

// Async-signal-safe calls only.
extern "C" void on_stop_signal(int number) {
  if (ranks_meet != 0 && ends_a_meeting(number)) ::_exit(static_cast<int>(ErrorCode::stopped));
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (caught == 0) {
    caught_at = now.tv_sec;
    caught = number;
  } else if (number != SIGHUP && now.tv_sec - caught_at > kSameRequest) {
    ::_exit(128 + number);
  }
}

}  // namespace

void block_stop_signals() {
  const sigset_t set = stop_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void catch_stop_signals() {
  const sigset_t set = stop_signals();
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_mask = set;  // the handlers must not interrupt each other
  // Reads and writes are restarted after them.
  action.sa_flags = SA_RESTART;
  for (const int number : kStopSignals) {
    if (number == SIGHUP && is_ignored(number)) continue;  // nohup
    ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

RanksMeet::RanksMeet() {
  ranks_meet = 1;
  if (!ends_a_meeting(caught)) return;
  ranks_meet = 0;
  throw Error(ErrorCode::stopped, name_of_stop_signal(caught) + " arrived before the ranks had met",
              "no signal during start-up", "start again, with --resume to continue a run");
}

RanksMeet::~RanksMeet() {
  ranks_meet = 0;
}

int stop_signal() {
  return caught;
}

std::string name_of_stop_signal(int number) {
  switch (number) {
    case SIGTERM:
      return "signal TERM";
    case SIGINT:
      return "signal INT";
    case SIGHUP:
      return "signal HUP";
    case SIGUSR1:
      return "signal USR1";
    default:
      return "signal USR2";
  }
}

}  // namespace hpcboot::train
