#include "record/atomic_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>  // renameat2
#include <system_error>

#include "record/atomic_file.hpp"
#include "record/disk_sync.hpp"
#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;

void rename_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw output_error("create", to, errno);
}

void clear_away(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) throw output_error("remove", folder, error.value());
}

/// Where complete_folder() moves the previous folder if the system cannot exchange two names.
fs::path replaced_folder(const fs::path& folder) {
  return unfinished_folder(folder) += ".old";
}

}  // namespace

fs::path unfinished_folder(const fs::path& folder) {
  return folder.parent_path() / ("." + folder.filename().string() + ".tmp");
}

fs::path begin_folder(const fs::path& folder) {
  const fs::path hidden = unfinished_folder(folder);
  clear_away(hidden);
  // complete_folder() may have ended between its two renames, or after them.
  std::error_code absent;
  const fs::path old = replaced_folder(folder);
  if (fs::exists(old, absent) && !fs::exists(fs::symlink_status(folder, absent)))
    rename_folder(old, folder);
  clear_away(old);
  make_folders(hidden);
  return hidden;
}

WriterLock::WriterLock(const fs::path& path)
    : file_(path.parent_path() / ("." + path.filename().string() + ".lock")) {
  while (true) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw output_error("create", file_, errno);
    const bool is_held = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    if (!is_held && errno == EWOULDBLOCK) {
      ::close(descriptor_);
      throw Error(ErrorCode::unwritable_output,
                  "another process is writing '" + path.string() + "'", "one writer at a time",
                  "wait until it has ended, and start this again");
    }
    // The previous holder removed the file of this name.
    struct stat own {};
    struct stat named {};
    if (::fstat(descriptor_, &own) == 0 && ::stat(file_.c_str(), &named) == 0 &&
        own.st_dev == named.st_dev && own.st_ino == named.st_ino) {
      if (is_held) remove_unfinished(path);
      return;
    }
    ::close(descriptor_);
  }
}

WriterLock::~WriterLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

void complete_folder(const fs::path& written, const fs::path& folder) {
  fs::path old;
  if (::rename(written.c_str(), folder.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw output_error("create", folder, errno);
    old = written;
    if (::renameat2(AT_FDCWD, written.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
      old = replaced_folder(folder);
      rename_folder(folder, old);
      rename_folder(written, folder);
    }
  }
  sync_folder(folder.parent_path());
  if (!old.empty()) clear_away(old);
}

void remove_folder(const fs::path& folder) {
  const fs::path hidden = unfinished_folder(folder);
  clear_away(hidden);
  clear_away(replaced_folder(folder));
  rename_folder(folder, hidden);
  clear_away(hidden);
}

}  // namespace hpcboot::record
