#pragma once

#include <array>
#include <csignal>
#include <string>

namespace hpcboot::train {

/// Signals that ask a run to end in order: SIGUSR1 and SIGUSR2 are what schedulers send before the
/// walltime is over, SIGTERM what they and people send to end a job, SIGINT is Ctrl-C.
constexpr std::array<int, 4> kStopSignals{SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

/// To be called first of all, since these signals end a process that does not catch them, and a
/// start takes seconds. From now on the first of these signals only sets what stop_signal()
/// returns. A second one ends the process at once with 128 + its number, where it comes later than
/// two seconds after the first: the same request often comes on two ways, from the scheduler and
/// from the job script.
void catch_stop_signals();

/// Lives while the ranks wait for each other, which may take minutes. Nothing has begun that could
/// be saved, so SIGTERM and SIGINT end the process at once, with the exit code of a run that was
/// stopped. A warning of the walltime waits for the first step: it comes before the end.
class RanksMeet {
 public:
  /// @throws Error{stopped} where one of these two has come already
  RanksMeet();
  ~RanksMeet();
  RanksMeet(const RanksMeet&) = delete;
  RanksMeet& operator=(const RanksMeet&) = delete;
};

/// The signal that came; 0: none.
int stop_signal();

/// "signal TERM"
std::string name_of_stop_signal(int number);

}  // namespace hpcboot::train
