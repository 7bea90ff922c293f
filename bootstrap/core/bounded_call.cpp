#include "bounded_call.hpp"

#include <future>
#include <utility>

#include "start_thread.hpp"
#include "time_left.hpp"

namespace hpcboot {

bool bounded_call(std::function<void()> call, std::chrono::milliseconds limit) {
  // Not std::async, whose future waits in its destructor.
  std::packaged_task<void()> task(std::move(call));
  std::future<void> done = task.get_future();
  std::thread thread = start_thread(std::move(task));
  if (done.wait_until(end_after(limit)) != std::future_status::ready) {
    thread.detach();
    return false;
  }
  thread.join();
  done.get();
  return true;
}

}  // namespace hpcboot
