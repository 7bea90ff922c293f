#pragma once

#include <poll.h>

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>
#include <vector>

namespace hpcboot::run {

using Clock = std::chrono::steady_clock;

// The descriptors that one iteration of a loop waits for.
class PollSet {
 public:
  // A closed descriptor, -1, is never ready.
  void add(int fd, short events);
  void wait(Clock::time_point until);
  // Ready for the requested events, or at its end.
  bool is_ready(int fd) const;

 private:
  std::vector<pollfd> entries_;
};

// Blocks signals of this thread during its lifetime so that they can be read; signals that were
// ignored before stay ignored, as under nohup. SIGCHLD is never left ignored, and a write to a
// closed pipe, or beyond the limit of the size of files, is only an error.
class BlockedSignals {
 public:
  explicit BlockedSignals(std::initializer_list<int> numbers);
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  int fd() const { return fd_; }
  // A pending signal, if any.
  std::optional<int> next() const;

 private:
  sigset_t before_{};
  struct sigaction child_before_ {};
  int fd_ = -1;
};

}  // namespace hpcboot::run
