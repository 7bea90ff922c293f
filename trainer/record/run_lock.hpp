#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hpcboot::record {

/// Who trains in a run folder.
struct LockHolder {
  std::string host;
  std::int64_t pid = 0;
  std::string job_id{};  ///< empty outside a job
  std::string damage{};  ///< why the file says none of these; empty where it does
};

/// A run folder that belongs to this process until the end of this object or of the process,
/// however it ends: an flock on `run.lock` in the folder, which the kernel, or the file server of
/// several hosts, gives back. The file says who holds it; it stays when the lock is gone.
///
/// Some cluster file systems have no locks (Lustre mounted without `flock`). There what the file
/// says decides: a process of this host that lives, or one of another host, holds the folder, until
/// it ends in order. That cannot tell a host that died, but for one case: a job that was queued
/// again holds its own id, and a scheduler does not run a job twice. Nor does it part two processes
/// that take the folder at the same moment.
class RunLock {
 public:
  struct Attempt;

  /// @throws Error{unwritable_output}
  static Attempt try_take(const std::filesystem::path& folder, const LockHolder& self);

  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

  /// The file in `folder`.
  static std::filesystem::path file(const std::filesystem::path& folder);

  /// Who took the folder last; nothing where nobody did, or has ended in order since. A file that
  /// is there and was not written by a trainer names nobody: its `damage` says what it holds.
  static std::optional<LockHolder> last_holder(const std::filesystem::path& folder);

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// What became of RunLock::try_take().
struct RunLock::Attempt {
  std::optional<RunLock> lock;  ///< nothing where another process holds the folder
  bool has_locks = true;        ///< whether the file system has them
};

}  // namespace hpcboot::record
