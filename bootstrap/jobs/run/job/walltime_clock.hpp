#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "jobs/run/launcher/bell.hpp"
#include "scheduler_job.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// Tells when the end of the walltime is near. Schedulers warn late, signal what is no rank, or do
// not warn at all; their limit may be changed while the job runs, or stand still while it is
// suspended, so that they are asked again before anybody is warned.
class WalltimeClock {
 public:
  // When the walltime is over as of now; nullopt: there is no limit any more. It may throw: the
  // time that was known before counts then. Called in a thread of the clock's.
  using Ask = std::function<std::optional<WallTime>()>;

  // @param before the end of the walltime is the warning due
  WalltimeClock(WallTime end, std::chrono::seconds before, Ask ask);
  ~WalltimeClock();
  WalltimeClock(const WalltimeClock&) = delete;
  WalltimeClock& operator=(const WalltimeClock&) = delete;

  // Readable from then on.
  int fd() const { return bell_.fd(); }
  bool is_due() const;
  // Of the walltime.
  std::chrono::seconds left() const;

 private:
  void watch();

  std::chrono::seconds before_;
  Ask ask_;
  Bell bell_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<WallTime> end_;
  bool is_due_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

// For the other ranks to end, once one has stopped in order. @param clock nullptr: there is none
std::chrono::seconds grace_to_stop(const WalltimeClock* clock);

// That every rank gets SIGUSR1 now.
void say_warning(Terminal& err, const WalltimeClock& clock);

}  // namespace hpcboot::run
