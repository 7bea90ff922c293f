#include "command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

extern char** environ;  // NOLINT(readability-redundant-declaration): passed on, never read

namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;

// A file in memory, so that nothing has to be written while the command reads. -1 if none can be
// created.
int input_of(const std::string& text) {
  if (text.empty()) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int fd = memfd_create("input", MFD_CLOEXEC);
  for (std::size_t done = 0; fd >= 0 && done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      close(fd);
      return -1;
    }
    done += static_cast<std::size_t>(count);
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

// Starts it with no signal blocked, whatever this process has blocked. 0: not started.
pid_t start(const std::vector<std::string>& words, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? child : 0;
}

// The signals for this process that a program in a group of its own does not get.
class PassedSignals {
 public:
  PassedSignals(bool are_wanted, pid_t child) : child_(child) {
    if (!are_wanted) return;
    sigset_t blocked;
    sigset_t wanted;
    sigemptyset(&wanted);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (sigismember(&blocked, number) == 1) sigaddset(&wanted, number);
    }
    fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~PassedSignals() {
    if (fd_ >= 0) close(fd_);
    if (first_ != 0) raise(first_);
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  int fd() const { return fd_; }
  // @return false if the program is to end at once
  bool pass() {
    signalfd_siginfo info{};
    while (fd_ >= 0 && read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (first_ != 0) return false;
      first_ = static_cast<int>(info.ssi_signo);
      kill(-child_, first_);
    }
    return true;
  }

 private:
  pid_t child_;
  int fd_ = -1;
  int first_ = 0;
};

enum class Reading { complete, late, stopped };

// It stays a zombie, whose process id is not reused yet.
bool has_ended(pid_t child) {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT | WNOHANG) != 0 ||
         ended.si_pid != 0;
}

// Reads until the other end is closed, `most` bytes are read, or nothing is left of what the
// program has written before its end: a process that it leaves behind may hold the other end.
Reading read_until(pid_t child, int output, std::optional<Clock::time_point> end, std::size_t most,
                   PassedSignals& signals, std::string& text) {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  constexpr std::chrono::seconds kAfterEnd{1};  // such a process may write all the time
  std::optional<Clock::time_point> last;
  std::array<char, 4096> buffer{};
  while (text.size() < most) {
    std::array<pollfd, 2> ready{{{output, POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    const auto now = Clock::now();
    if (!last && has_ended(child)) last = now + kAfterEnd;
    if (last && now >= *last) break;
    auto left = last ? std::chrono::milliseconds(0) : kBetweenLooks;
    if (end && !last) {
      left = std::min(left, std::chrono::ceil<std::chrono::milliseconds>(*end - now));
      if (left.count() <= 0) return Reading::late;
    }
    const int count = poll(ready.data(), ready.size(), static_cast<int>(left.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || (count == 0 && last)) break;
    if (!signals.pass()) return Reading::stopped;
    if (ready[0].revents == 0) continue;
    const ssize_t size = read(output, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return Reading::complete;
}

// Waits for a program that has closed its output, which is about to end.
Reading wait_until(pid_t child, std::optional<Clock::time_point> end, PassedSignals& signals) {
  while (!has_ended(child)) {
    if (end && Clock::now() >= *end) return Reading::late;
    if (!signals.pass()) return Reading::stopped;
    usleep(1000);
  }
  return Reading::complete;
}

}  // namespace

std::string failure_of(const CommandResult& result) {
  std::string reason = !result.is_started ? "there is no such program"
                       : result.is_late   ? "no answer in time"
                                          : "exit code " + std::to_string(result.exit_code);
  if (!result.output.empty()) reason += ": " + result.output;
  reason.erase(reason.find_last_not_of('\n') + 1);
  return reason;
}

CommandResult run_command(const std::vector<std::string>& words, const CommandOptions& options) {
  CommandResult result;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return result;
  const int input = input_of(options.input);
  const pid_t child = input < 0 ? 0 : start(words, input, ends[1]);
  if (input >= 0) close(input);
  close(ends[1]);
  if (child > 0) {
    result.is_started = true;
    std::optional<Clock::time_point> end;
    if (options.limit) end = Clock::now() + *options.limit;
    PassedSignals signals(options.passes_signals, child);
    Reading reading = read_until(child, ends[0], end, options.most_bytes, signals, result.output);
    if (reading == Reading::complete && result.output.size() < options.most_bytes)
      reading = wait_until(child, end, signals);
    result.is_late = reading == Reading::late;
    kill(-child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  close(ends[0]);
  return result;
}

}  // namespace hpcboot
