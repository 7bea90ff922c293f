#include "heartbeats.hpp"

#include <csignal>
#include <utility>

namespace hpcboot::run {

Heartbeats::Heartbeats(std::vector<std::weak_ptr<FrameChannel>> channels)
    : channels_(std::move(channels)) {
  if (channels_.empty()) return;
  // Signals belong to the thread that reads them.
  sigset_t all;
  sigset_t own;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  thread_ = std::thread([this] { beat(); });
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
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
