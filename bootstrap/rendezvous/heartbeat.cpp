#include "heartbeat.hpp"

#include <cstring>
#include <utility>

#include "core/thread_without_signals.hpp"
#include "own_folder.hpp"

namespace hpcboot {

Heartbeat::Heartbeat(std::string file) : file_(std::move(file)) {
  const int reason = replace_file(file_, "0");
  if (reason != 0) fail_folder("cannot write " + file_ + ": " + std::strerror(reason));
  thread_ = thread_without_signals([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// A file that cannot be written now may be written next time.
void Heartbeat::beat() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (long count = 1; !changed_.wait_for(lock, kInterval, [this] { return has_ended_; });
       ++count) {
    lock.unlock();
    replace_file(file_, std::to_string(count));
    lock.lock();
  }
}

}  // namespace hpcboot
