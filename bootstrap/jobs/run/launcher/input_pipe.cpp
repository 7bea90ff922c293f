#include "input_pipe.hpp"

#include <unistd.h>

#include <cerrno>

namespace hpcboot::run {
namespace {

void close_one(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

InputPipe::InputPipe() : ends_(make_pipe()) {
  set_nonblocking(ends_.second);
}

InputPipe::~InputPipe() {
  close_one(ends_.first);
  close_one(ends_.second);
}

void InputPipe::hand_over() {
  close_one(ends_.first);
}

void InputPipe::add_to(PollSet& set) {
  if (ends_.second < 0) return;
  if (rest_.empty()) {
    input_.add_to(set);
  } else {
    set.add(ends_.second, POLLOUT);
  }
}

void InputPipe::handle(const PollSet& set) {
  if (ends_.second < 0) return;
  if (rest_.empty()) {
    const auto bytes = input_.read(set);
    if (!bytes) return;
    rest_ = *bytes;
    if (bytes->empty()) close_one(ends_.second);
  }
  write_rest();
}

void InputPipe::write_rest() {
  while (ends_.second >= 0 && !rest_.empty()) {
    const ssize_t count = write(ends_.second, rest_.data(), rest_.size());
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0 && errno != EINTR) close_one(ends_.second);  // the reader is gone
    if (count > 0) rest_.erase(0, static_cast<std::size_t>(count));
  }
  input_.go_on();
}

}  // namespace hpcboot::run
