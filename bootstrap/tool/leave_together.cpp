#include "leave_together.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <thread>

namespace hpcboot::tool {
namespace {

// Of this launch and user alone. A namespace may hold any character, such as / and @.
std::string name_of_launch(const Env& env) {
  std::string launch(env.text("PMIX_NAMESPACE").value_or(""));
  for (char& letter : launch) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return "/dev/shm/hpcboot-" + std::to_string(getuid()) + "-" + launch.substr(0, 200);
}

}  // namespace

// In memory that is this host's: a rank that is still there holds a shared lock on the file, which
// goes with the process if that dies.
LeaveTogether::LeaveTogether(const Env& env)
    : name_(name_of_launch(env)),
      file_(::open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (file_ >= 0) ::flock(file_, LOCK_SH);
}

LeaveTogether::~LeaveTogether() {
  if (file_ >= 0) ::close(file_);
}

bool LeaveTogether::wait(std::chrono::milliseconds limit) {
  if (file_ < 0) return false;
  const auto end = std::chrono::steady_clock::now() + limit;
  ::flock(file_, LOCK_UN);
  std::chrono::milliseconds pause(1);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
  // The others have it open by now: the name is not needed any more.
  ::unlink(name_.c_str());
  ::flock(file_, LOCK_UN);
  return true;
}

}  // namespace hpcboot::tool
