#include "heartbeat.hpp"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/start_thread.hpp"
#include "own_folder.hpp"

namespace hpcboot {

struct Heartbeat::State {
  std::string file;
  std::mutex mutex;  // held while the file is written
  std::condition_variable changed;
  bool has_ended = false;

  // A file that cannot be written now may be written next time.
  void beat() {
    std::unique_lock<std::mutex> lock(mutex);
    for (long count = 1; !changed.wait_for(lock, kInterval, [this] { return has_ended; }); ++count)
      overwrite_file(file, std::to_string(count));
  }
};

Heartbeat::Heartbeat(std::string file) : state_(std::make_shared<State>()) {
  state_->file = std::move(file);
  const int reason = overwrite_file(state_->file, "0");
  if (reason != 0) fail_folder("cannot write " + state_->file + ": " + std::strerror(reason));
  // On a busy machine, its end would take longer than the rest of an exchange.
  thread_without_signals([state = state_] { state->beat(); }).detach();
}

Heartbeat::~Heartbeat() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->has_ended = true;
  state_->changed.notify_all();
}

}  // namespace hpcboot
