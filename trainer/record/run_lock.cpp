#include "record/run_lock.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "record/json_reader.hpp"
#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

std::filesystem::path lock_file(const std::filesystem::path& folder) {
  return folder / "run.lock";
}

bool is_without_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == EINVAL;
}

/// Where there are no locks: may the process that the file names be at work?
bool may_live(const LockHolder& holder, const LockHolder& self) {
  if (!self.job_id.empty() && holder.job_id == self.job_id) return false;
  if (holder.host != self.host) return true;
  return ::kill(static_cast<pid_t>(holder.pid), 0) == 0 || errno == EPERM;
}

}  // namespace

std::optional<LockHolder> RunLock::last_holder(const std::filesystem::path& folder) {
  std::ifstream in(lock_file(folder));
  const Json json = Json::parse(in, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return LockHolder{json.value("host", ""), json.value("pid", std::int64_t{0}),
                    json.value("job_id", "")};
}

std::optional<RunLock> RunLock::try_take(const std::filesystem::path& folder,
                                         const LockHolder& self) {
  const std::filesystem::path path = lock_file(folder);
  RunLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.descriptor_ < 0) throw output_error("open", path, errno);
  while (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) {
      // Not this process's: its content is not to be emptied.
      ::close(std::exchange(lock.descriptor_, -1));
      return std::nullopt;
    }
    if (!is_without_locks(errno)) throw output_error("lock", path, errno);
    const auto holder = last_holder(folder);
    if (!holder || !may_live(*holder, self)) break;
    ::close(std::exchange(lock.descriptor_, -1));
    return std::nullopt;
  }
  const std::string text =
      Json{{"host", self.host}, {"pid", self.pid}, {"job_id", self.job_id}}.dump() + "\n";
  if (::ftruncate(lock.descriptor_, 0) != 0 || ::pwrite(lock.descriptor_, text.data(), text.size(),
                                                        0) != static_cast<ssize_t>(text.size())) {
    throw output_error("write", path, errno);
  }
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  // Best effort: where locks work the kernel gives the folder back in any case.
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

}  // namespace hpcboot::record
