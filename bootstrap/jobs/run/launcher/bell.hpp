#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

namespace hpcboot::run {

// A descriptor that becomes readable when the bell rings.
class Bell {
 public:
  Bell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Bell() {
    if (fd_ >= 0) close(fd_);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  int fd() const { return fd_; }
  void ring() const { eventfd_write(fd_, 1); }
  void silence() const {
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
  }

 private:
  int fd_;
};

}  // namespace hpcboot::run
