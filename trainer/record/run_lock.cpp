#include "record/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <limits>
#include <utility>

#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

bool is_without_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == EINVAL;
}

std::string program_of(const std::string& process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + process + "/comm") >> std::ws, name);
  return name;
}

/// The file is emptied later, so it is not one of another place, behind a link.
int open_file(const std::filesystem::path& path) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
  struct stat status {};
  const bool is_link = descriptor < 0 && errno == ELOOP;
  if (descriptor < 0 && !is_link) throw output_error("open", path, errno);
  if (is_link || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor >= 0) ::close(descriptor);
    throw Error(ErrorCode::unwritable_output,
                "'" + path.string() + "' is " + (is_link ? "a symbolic link" : "no regular file"),
                "a regular file, or none", "find out what it is, and remove it");
  }
  return descriptor;
}

/// Without locks: may the process that the file names still be running?
bool may_live(const LockHolder& holder, const LockHolder& self) {
  if (!holder.damage.empty()) return true;  // written by an unknown program
  if (holder.host == self.host) {
    const bool lives = ::kill(static_cast<pid_t>(holder.pid), 0) == 0 || errno == EPERM;
    // After a reboot its process id may belong to another program.
    const std::string program = program_of(std::to_string(holder.pid));
    return lives && (program.empty() || program == program_of("self"));
  }
  return self.job_id.empty() || holder.job_id != self.job_id;
}

}  // namespace

std::filesystem::path RunLock::file(const std::filesystem::path& folder) {
  return folder / "run.lock";
}

std::optional<LockHolder> RunLock::last_holder(const std::filesystem::path& folder) {
  const std::filesystem::path path = file(folder);
  std::error_code none;
  if (!std::filesystem::exists(path, none) || std::filesystem::file_size(path, none) == 0)
    return std::nullopt;
  LockHolder holder;
  try {
    constexpr JsonLimits kLimits{4096, 2, 16};
    const Json json = read_json_file(path, kLimits);
    const JsonReader reader(path.string(), json);
    holder.host = reader.require("host", reader.text("host"), "the name of a host");
    holder.pid = reader.require("pid", reader.integer("pid", 1, std::numeric_limits<pid_t>::max()),
                                "a process id");
    holder.job_id = reader.text("job_id").value_or("");
  } catch (const Error& problem) {
    holder = {};
    holder.damage = problem.found();
  }
  return holder;
}

RunLock::Attempt RunLock::try_take(const std::filesystem::path& folder, const LockHolder& self) {
  const std::filesystem::path path = file(folder);
  RunLock lock(open_file(path));
  Attempt attempt;
  while (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (reason == EINTR) continue;
    attempt.has_locks = !is_without_locks(reason);
    if (!attempt.has_locks) {
      const auto holder = last_holder(folder);
      if (!holder || !may_live(*holder, self)) break;
    }
    // Another process holds it: the destructor must not truncate the file.
    ::close(std::exchange(lock.descriptor_, -1));
    if (reason == EWOULDBLOCK || !attempt.has_locks) return attempt;
    throw output_error("lock", path, reason);
  }
  const std::string text =
      json_text({{"host", self.host}, {"pid", self.pid}, {"job_id", self.job_id}}).str() + "\n";
  if (::ftruncate(lock.descriptor_, 0) != 0 || ::pwrite(lock.descriptor_, text.data(), text.size(),
                                                        0) != static_cast<ssize_t>(text.size())) {
    throw output_error("write", path, errno);
  }
  attempt.lock = std::move(lock);
  return attempt;
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  // Best effort: where locks work, the kernel releases the folder in any case.
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

}  // namespace hpcboot::record
