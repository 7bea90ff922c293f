#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hpcboot::record {

/// The process that trains in a run folder.
struct LockHolder {
  std::string host;
  std::int64_t pid = 0;
  std::string job_id{};  ///< empty outside a job
  std::string damage{};  ///< why the file gives none of these; empty if it does
};

/// Exclusive use of a run folder until this object or the process ends, however it ends: an flock
/// on `run.lock` in the folder, which the kernel releases, or the file server if several hosts
/// share it. The file names the holder; it remains after the lock is released.
///
/// Some cluster file systems have no locks (Lustre mounted without `flock`). There the content of
/// the file decides: a live process of this host, or any process of another host, holds the folder
/// until it ends cleanly. This cannot detect that a host died, with one exception: a requeued job
/// keeps its id, and a scheduler does not run a job twice. Nor does it separate two processes that
/// take the folder at the same moment.
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

  /// The process that took the folder last; nothing if there was none, or if it has ended cleanly.
  /// A file that was not written by a trainer names no process; its `damage` says what is wrong.
  static std::optional<LockHolder> last_holder(const std::filesystem::path& folder);

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// The result of RunLock::try_take().
struct RunLock::Attempt {
  std::optional<RunLock> lock;  ///< nothing if another process holds the folder
  bool has_locks = true;        ///< whether the file system has locks
};

}  // namespace hpcboot::record
