#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace hpcboot::train {

/// Writes on its own thread while training continues, one job at a time.
class BackgroundWriter {
 public:
  /// @param patience see finish()
  explicit BackgroundWriter(std::chrono::milliseconds patience = std::chrono::hours(1));
  /// Waits for the job that is running; only check() and finish() report a failure.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Starts a job. None may be running: see wait().
  void start(std::function<void()> job);
  /// Whether no job is running.
  bool is_idle() const;
  void wait();
  /// Rethrows the failure of a job since the last call.
  void check();
  /// wait() and check().
  void finish();
  /// The same, for at most `limit`, for a rank that tells the others at intervals that it waits.
  /// But if the disk has completed nothing for as long as the patience, it waits without a limit:
  /// the others no longer hear of a rank whose disk hangs, and end at the collective timeout.
  /// @return whether no job is running
  bool finish(std::chrono::milliseconds limit);

  /// The longest time that a job has taken, in seconds; 0 before the first.
  double longest_seconds() const;
  /// The total time of waiting, in seconds.
  double waited_seconds() const { return waited_; }

 private:
  void work();

  const std::chrono::milliseconds patience_;
  std::uint64_t progress_ = 0;                        ///< of the disk, when it was last looked at
  std::chrono::steady_clock::time_point progressed_;  ///< when it was first seen
  double waited_ = 0;
  mutable std::mutex mutex_;  // guards the members below, up to thread_
  std::condition_variable changed_;
  std::function<void()> job_;  // running or due; empty: none
  std::exception_ptr failure_;
  double longest_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hpcboot::train
