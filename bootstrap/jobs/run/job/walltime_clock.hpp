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

// Reports that the end of the walltime is near. Schedulers warn late, signal processes that are not
// ranks, or do not warn at all. The limit may change while the job runs, or the walltime may pause
// while it is suspended, so the scheduler is asked again before a warning is sent.
class WalltimeClock {
 public:
  // The current end of the walltime; nullopt: no limit any more. May throw: then the last known
  // time applies. Called in the clock's own thread.
  using Ask = std::function<std::optional<WallTime>()>;

  // @param end nullopt: not known yet; `ask` is called until it does not throw
  // @param before how long before the end of the walltime the warning is due
  WalltimeClock(std::optional<WallTime> end, std::chrono::seconds before, Ask ask);
  ~WalltimeClock();
  WalltimeClock(const WalltimeClock&) = delete;
  WalltimeClock& operator=(const WalltimeClock&) = delete;

  // Readable once the warning is due.
  int fd() const { return bell_.fd(); }
  bool is_due() const;
  // Remaining walltime.
  std::chrono::seconds left() const;

 private:
  void watch();
  void learn_end(std::unique_lock<std::mutex>& lock);

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

// How long the other ranks may take to end once one has stopped cleanly.
// @param clock nullptr: none
std::chrono::seconds grace_to_stop(const WalltimeClock* clock);

// Prints that every rank gets SIGUSR1 now.
void say_warning(Terminal& err, const WalltimeClock& clock);

}  // namespace hpcboot::run
