#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hpcboot::run {

// While it lives, orphaned descendants become children of this process and can be found: for
// example processes that a rank started in their own session or group.
class LeftBehind {
 public:
  LeftBehind();
  ~LeftBehind();
  LeftBehind(const LeftBehind&) = delete;
  LeftBehind& operator=(const LeftBehind&) = delete;

  // Reaps adopted children that have ended. `known` are the children that are reaped elsewhere.
  void reap(const std::vector<pid_t>& known) const;

  // Kills all descendants of this process and waits at most a second for them to end. Spares those
  // that existed before this object, such as the `tee` of a script that replaced itself with this
  // program by exec, and programs named in `spared` with their descendants.
  void kill_all(const std::vector<std::string>& spared = {}) const;

 private:
  std::vector<pid_t> before_;
  int was_reaper_ = 0;
};

}  // namespace hpcboot::run
