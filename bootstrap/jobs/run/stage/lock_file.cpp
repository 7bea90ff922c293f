#include "lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorCode::unwritable_output, path + ": " + std::strerror(errno),
              "a folder for temporary files that supports file locks (flock)",
              "set TMPDIR to one on this host's own disk");
}

}  // namespace

LockFile::LockFile(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (fd_ < 0 && errno != ENOENT) fail(path);
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LockFile::~LockFile() {
  if (fd_ >= 0) close(fd_);
}

bool LockFile::try_lock(bool is_shared) {
  if (fd_ < 0) return false;
  const int kind = is_shared ? LOCK_SH : LOCK_EX;
  while (flock(fd_, kind | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) fail(path_);
  }
  return true;
}

void LockFile::await_alone() {
  while (flock(fd_, LOCK_EX) != 0) {
    if (errno != EINTR) fail(path_);
  }
}

bool LockFile::is_there() const {
  struct stat status {};
  return fd_ >= 0 && fstat(fd_, &status) == 0 && status.st_nlink > 0;
}

}  // namespace hpcboot::run
