#include "event_loop.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/contains.hpp"
#include "hpcboot/error.hpp"
#include "process/signal_set.hpp"

namespace hpcboot::run {
namespace {

// Writes that fail report it by themselves.
constexpr int kOfWrites[] = {SIGPIPE, SIGXFSZ};

}  // namespace

void PollSet::add(int fd, short events) {
  if (fd < 0) return;
  entries_.push_back({fd, events, 0});
}

void PollSet::wait(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  poll(entries_.data(), entries_.size(),
       static_cast<int>(std::clamp<decltype(left + 0)>(left, 0, 60000)));
}

bool PollSet::is_ready(int fd) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const pollfd& entry) { return entry.fd == fd && entry.revents != 0; });
}

BlockedSignals::BlockedSignals(std::initializer_list<int> numbers) {
  sigset_t set = not_ignored(numbers);
  if (contains(numbers, SIGCHLD)) sigaddset(&set, SIGCHLD);
  fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) {
    throw Error(ErrorCode::backend_unavailable, std::string("signalfd: ") + std::strerror(errno),
                "a file descriptor for signals", "check ulimit -n");
  }
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_before_);
  for (const int number : kOfWrites) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

BlockedSignals::~BlockedSignals() {
  // A signal that arrived too late to be read must not end the program now.
  while (next()) {
  }
  sigset_t of_writes;
  sigemptyset(&of_writes);
  for (const int number : kOfWrites) sigaddset(&of_writes, number);
  const timespec none{};
  while (sigtimedwait(&of_writes, nullptr, &none) > 0) {
  }
  sigaction(SIGCHLD, &child_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  close(fd_);
}

std::optional<int> BlockedSignals::next() const {
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace hpcboot::run
