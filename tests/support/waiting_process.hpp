#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace hpcboot::test {

/// A process that only waits until it is ended, like a rank for its peers. It ends with this
/// object, or with the test's program, at the latest.
class WaitingProcess {
 public:
  WaitingProcess() : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  ~WaitingProcess() { end(); }
  WaitingProcess(const WaitingProcess&) = delete;
  WaitingProcess& operator=(const WaitingProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// Kills it, unless it has ended, and reaps it, so that its process ID is free.
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

}  // namespace hpcboot::test
