#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hello {

/// Ends the process with exit code 32 (deadline_exceeded) and a message if it runs too long: MPI
/// itself waits forever for a peer that cannot be reached, even in MPI_Init.
class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::seconds limit);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// Sets what the process does from now on, for the message.
  /// @param phase a literal, such as "starting MPI"
  void now(const char* phase) { phase_ = phase; }

 private:
  void watch();

  const std::chrono::seconds limit_;
  std::atomic<const char*> phase_{"starting"};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watcher_;  // last: it uses the others
};

}  // namespace hello
