#include "out_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hpcboot::run {

OutStream::OutStream(int fd) : fd_(fd), is_terminal_(isatty(fd) != 0) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return;
  is_socket_ = S_ISSOCK(status.st_mode);
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return;
  // Reopened: O_NONBLOCK would affect all programs that share the open file description.
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  const int own = open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  is_own_ = own >= 0;
  may_wait_ = own < 0;
  if (is_own_) fd_ = own;
}

OutStream::~OutStream() {
  if (is_own_) close(fd_);
}

void OutStream::add(std::string_view bytes) {
  if (error_ == 0 && !is_discarded_) unwritten_ += bytes;
}

void OutStream::discard() {
  is_discarded_ = true;
  unwritten_.clear();
}

void OutStream::flush() {
  constexpr std::size_t kLittle = 512;
  std::size_t written = 0;
  while (written < unwritten_.size()) {
    const char* from = unwritten_.data() + written;
    std::size_t count = unwritten_.size() - written;
    if (may_wait_) {
      pollfd entry{fd_, POLLOUT, 0};
      if (poll(&entry, 1, 0) != 1) break;
      count = std::min(count, kLittle);
    }
    const ssize_t size =
        is_socket_ ? send(fd_, from, count, MSG_DONTWAIT | MSG_NOSIGNAL) : write(fd_, from, count);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) {
      error_ = errno;
      discard();
      return;
    }
    written += static_cast<std::size_t>(size);
  }
  unwritten_.erase(0, written);
  written_ += written;
}

}  // namespace hpcboot::run
