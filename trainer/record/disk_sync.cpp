#include "record/disk_sync.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

std::atomic<std::uint64_t> progress{0};

/// 0 or the error number.
int sync_path(const std::filesystem::path& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno;
  const int error_number = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  add_disk_progress();
  return error_number;
}

}  // namespace

std::uint64_t disk_progress() {
  return progress;
}

void add_disk_progress() {
  ++progress;
}

void sync_folder(const std::filesystem::path& folder) {
  const int error_number = sync_path(folder.empty() ? "." : folder, O_DIRECTORY);
  if (error_number != 0 && error_number != EINVAL && error_number != EACCES)
    throw output_error("write", folder, error_number);
}

void sync_file(const std::filesystem::path& file) {
  const int error_number = sync_path(file, 0);
  if (error_number != 0 && error_number != EINVAL && error_number != ENOENT)
    throw output_error("write", file, error_number);
}

void make_folders(const std::filesystem::path& folder) {
  std::error_code absent;
  if (folder.empty() || std::filesystem::is_directory(folder, absent)) return;
  const std::filesystem::path above = folder.parent_path();
  make_folders(above);
  const int error_number = ::mkdir(folder.c_str(), 0777) == 0 ? 0 : errno;
  // If another process created it first, it may not have synced it yet.
  const bool is_there = error_number == 0 || std::filesystem::is_directory(folder, absent);
  if (!is_there)
    throw output_error("create the folder", folder,
                       error_number == EEXIST ? ENOTDIR : error_number);
  sync_folder(above);
}

}  // namespace hpcboot::record
