#include "run_input.hpp"

#include <unistd.h>

#include <cerrno>

namespace hpcboot::run {
namespace {

bool is_readable_here() {
  return isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

}  // namespace

void RunInput::add_to(PollSet& set) const {
  if (!is_waiting_ && !has_ended_ && is_readable_here()) set.add(STDIN_FILENO, POLLIN);
}

std::optional<std::string> RunInput::read(const PollSet& set) {
  if (!set.is_ready(STDIN_FILENO) || !is_readable_here()) return std::nullopt;
  char buffer[std::size_t{64} << 10U];
  const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  has_ended_ = size <= 0;
  is_waiting_ = true;
  return has_ended_ ? std::string() : std::string(buffer, static_cast<std::size_t>(size));
}

}  // namespace hpcboot::run
