#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hpcboot {

// Renews a file in a thread of its own, so that others see that this process lives.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kInterval{200};

  // The file exists when this returns. @throws Error{exchange_failed} if it cannot be written
  explicit Heartbeat(std::string file);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  std::string file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace hpcboot
