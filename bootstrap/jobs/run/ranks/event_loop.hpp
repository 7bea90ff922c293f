#pragma once

#include <poll.h>

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>
#include <vector>

namespace hpcboot::run {

using Clock = std::chrono::steady_clock;

// The descriptors that one turn of a loop waits for.
class PollSet {
 public:
  // A closed one, -1, is never ready.
  void add(int fd, short events);
  void wait(Clock::time_point until);
  // For what it was waited for, or for no more to come.
  bool is_ready(int fd) const;

 private:
  std::vector<pollfd> entries_;
};

// Signals of this thread that are read instead of taken, while it lives; those that were ignored
// before stay so, as under nohup. SIGCHLD is never left ignored, and a write to a closed pipe is an
// error only.
class BlockedSignals {
 public:
  explicit BlockedSignals(std::initializer_list<int> numbers);
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  int fd() const { return fd_; }
  // One that has come.
  std::optional<int> next() const;

 private:
  sigset_t before_{};
  struct sigaction child_before_ {};
  int fd_ = -1;
};

}  // namespace hpcboot::run
