#include "record/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

/// A name no other writer uses: the process and a counter tell writers on this host apart, and
/// O_EXCL those on other hosts of a shared file system.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() /
         fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

int open_retrying(const std::filesystem::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// Makes the rename itself durable. 0 or the error number.
int sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open_retrying(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return errno;
  const int error_number = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder and say EINVAL: the file itself is safe there.
  return error_number == EINVAL ? 0 : error_number;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  do {
    temporary_ = temporary_name(path_);
    // 0666 less the umask, as for any file; mkstemp's 0600 would hide the record from colleagues.
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail("create", errno);
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::write(const void* data, std::size_t size) {
  // Linux writes at most 0x7ffff000 bytes a call.
  constexpr std::size_t kLargestWrite = std::size_t{1} << 30U;
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, next, std::min(size, kLargestWrite));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", errno);
    }
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("write", errno);
  // close() reports what NFS finds out only now, a full disk above all.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("create", errno);
  temporary_.clear();
  if (const int error_number = sync_folder(path_.parent_path())) fail("write", error_number);
}

void AtomicFile::fail(std::string_view action, int error_number) {
  discard();  // also for a constructor, whose failure runs no destructor
  throw output_error(action, path_, error_number);
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace hpcboot::record
