#pragma once

#include <filesystem>

// A folder that appears complete or not at all, even after a power failure: its files are written
// into a hidden folder beside it, each with AtomicFile, and that one is renamed. Every function
// throws Error{unwritable_output}.
namespace hpcboot::record {

/// Where the files of `folder` are written: ".NAME.tmp" beside it.
std::filesystem::path unfinished_folder(const std::filesystem::path& folder);

/// Creates unfinished_folder(), without what an earlier attempt has left in it. If that attempt
/// ended in the moment without `folder`, it gets its previous content back.
std::filesystem::path begin_folder(const std::filesystem::path& folder);

/// While one process holds it, no other one writes `path`, a file or a folder: for a folder from
/// before begin_folder() until after complete_folder(), because all writers share
/// unfinished_folder(), so that each would remove or complete what another writes. It removes what
/// killed writers of `path` have left under an unfinished_name(). Does nothing if the file system
/// does not support locks.
class WriterLock {
 public:
  /// The folder of `path` must exist.
  /// @throws Error{unwritable_output} if another process holds it
  explicit WriterLock(const std::filesystem::path& path);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Gives `written` the name `folder`. What had that name is removed; where the system cannot
/// exchange two names, there is a moment without it.
void complete_folder(const std::filesystem::path& written, const std::filesystem::path& folder);

/// Removes a folder so that a crash leaves it complete, or hidden for the next begin_folder() of
/// this name.
void remove_folder(const std::filesystem::path& folder);

}  // namespace hpcboot::record
