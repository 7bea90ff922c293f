#pragma once

#include <array>
#include <csignal>
#include <string>

namespace hpcboot::train {

/// Signals that request an orderly end of the run: schedulers send SIGUSR1 and SIGUSR2 before the
/// walltime is over; schedulers and users send SIGTERM to end a job; SIGINT is Ctrl-C; SIGHUP
/// arrives when the terminal or the ssh session is gone.
constexpr std::array<int, 5> kStopSignals{SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};

/// Keeps these signals, which end a process that does not catch them, until catch_stop_signals(),
/// also over exec(): loading LibTorch takes a while.
void block_stop_signals();

/// Must be called first in main(), since the start takes seconds. From now on the first of these
/// signals only sets what stop_signal() returns. A second one, more than two seconds later, ends
/// the process immediately with 128 + its number; earlier ones are ignored, since the same request
/// often arrives twice, from the scheduler and from the job script. SIGHUP is never a second one:
/// it also follows when a session is ended. If it was ignored before, it stays so, as under nohup.
void catch_stop_signals();

/// Exists while the ranks wait for each other, which may take minutes. There is nothing to save
/// yet, so SIGTERM, SIGINT and SIGHUP end the process immediately, with the exit code of a stopped
/// run. A warning before the end of the walltime is kept until the first step.
class RanksMeet {
 public:
  /// @throws Error{stopped} if one of these three has already arrived
  RanksMeet();
  ~RanksMeet();
  RanksMeet(const RanksMeet&) = delete;
  RanksMeet& operator=(const RanksMeet&) = delete;
};

/// The signal that arrived; 0: none.
int stop_signal();

/// "signal TERM"
std::string name_of_stop_signal(int number);

}  // namespace hpcboot::train
