#include "heartbeats.hpp"

#include <utility>

#include "core/start_thread.hpp"

namespace hpcboot::run {

Heartbeats::Heartbeats(std::vector<std::weak_ptr<FrameChannel>> channels)
    : channels_(std::move(channels)) {
  if (channels_.empty()) return;
  thread_ = thread_without_signals([this] { beat(); });
}

Heartbeats::~Heartbeats() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeats::beat() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, kHeartbeat, [this] { return is_over_; })) {
    for (const auto& channel : channels_) {
      // Unsent messages do as well.
      if (const auto open = channel.lock(); open && open->unsent() == 0)
        open->send(FrameKind::heartbeat, "");
    }
  }
}

}  // namespace hpcboot::run
