#pragma once

#include <csignal>

namespace hpcboot::tool {

// While it exists, SIGINT, SIGTERM and SIGHUP do not end this process, which has a file to remove
// or an answer to read first. What has arrived takes effect when the last of them is gone. Signals
// that were ignored stay ignored.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Has one arrived?
  bool is_pending() const;

 private:
  sigset_t held_;
  sigset_t before_{};
};

}  // namespace hpcboot::tool
