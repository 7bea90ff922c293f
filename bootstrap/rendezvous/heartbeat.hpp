#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace hpcboot {

// Renews a file in a thread of its own, so that others see that this process lives.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kInterval{200};

  // The file exists when this returns. @throws Error{exchange_failed} if it cannot be written
  explicit Heartbeat(std::string file);
  // Afterwards the file is not written any more.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  struct State;

  std::shared_ptr<State> state_;  // which the thread may need a little longer
};

}  // namespace hpcboot
