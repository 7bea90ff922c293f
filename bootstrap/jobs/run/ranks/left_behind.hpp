#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hpcboot::run {

// While it lives, what loses its parent below this process becomes a child of this one, and can be
// found: what a rank started in a session or a group of its own, for example.
class LeftBehind {
 public:
  LeftBehind();
  ~LeftBehind();
  LeftBehind(const LeftBehind&) = delete;
  LeftBehind& operator=(const LeftBehind&) = delete;

  // Lets go of those that have ended by themselves, as nobody else does. `known` are the children
  // that somebody else waits for.
  void reap(const std::vector<pid_t>& known) const;

  // Kills what is below this process, and waits for its end for a second at most. What was there
  // before this object stays, such as the `tee` of a script that has become this program; and so do
  // programs named `spared`, with what they have started.
  void kill_all(const std::vector<std::string>& spared = {}) const;

 private:
  std::vector<pid_t> before_;
  int was_reaper_ = 0;
};

}  // namespace hpcboot::run
