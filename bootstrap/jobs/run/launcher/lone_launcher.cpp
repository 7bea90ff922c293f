#include "lone_launcher.hpp"

#include <unistd.h>

namespace hpcboot::run {
namespace {

bool are_outputs_read() {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    pollfd entry{fd, POLLOUT, 0};
    if (poll(&entry, 1, 0) == 0) return false;
  }
  return true;
}

}  // namespace

bool LoneLauncher::is_overdue(Clock::time_point now) {
  if (!looks_.is_due(now)) return false;
  const bool had_ended = have_ended_;
  have_ended_ = had_ended || control_.have_all_ended(world_size_);
  if (!had_ended || looks_.was_stopped() || !are_outputs_read()) end_ = now + patience_;
  return have_ended_ && now >= end_;
}

}  // namespace hpcboot::run
