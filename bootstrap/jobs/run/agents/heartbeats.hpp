#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frames.hpp"

namespace hpcboot::run {

// Sends heartbeats in a thread of its own: a file system that hangs may block the thread that
// writes the ranks' output for minutes.
class Heartbeats {
 public:
  // Channels that are closed meanwhile are skipped.
  explicit Heartbeats(std::vector<std::weak_ptr<FrameChannel>> channels);
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;

 private:
  void beat();

  std::vector<std::weak_ptr<FrameChannel>> channels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace hpcboot::run
