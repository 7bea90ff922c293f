#include "rank_child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/descriptor_limit.hpp"
#include "core/program_path.hpp"
#include "hpcboot/error.hpp"
#include "process_tree.hpp"

namespace hpcboot::run {
namespace {

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorCode::backend_unavailable, std::string(call) + ": " + std::strerror(errno),
              "room for another process of this user", "check ulimit -u and ulimit -n");
}

// Repeats a call that was interrupted by a signal.
template <typename Call>
auto again(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Everything that the child needs between fork() and exec(), where no memory may be allocated.
class Program {
 public:
  explicit Program(const ChildSpec& spec) : words_(spec.words), paths_(paths_of(spec)) {
    for (const auto& [name, value] : spec.env) entries_.push_back(name + "=" + value);
    for (std::string& entry : entries_) environment_.push_back(entry.data());
    environment_.push_back(nullptr);
    // A file without #! is run by the shell, as with execvp(): its name is inserted as the second
    // word.
    script_arguments_ = {shell_.data(), nullptr};
    for (std::string& word : words_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
    script_arguments_.insert(script_arguments_.end(), arguments_.begin() + 1, arguments_.end());
  }

  // @return errno
  int execute() {
    int reason = ENOENT;
    for (std::string& path : paths_) {
      execve(path.data(), arguments_.data(), environment_.data());
      if (errno == ENOEXEC) {
        script_arguments_[1] = path.data();
        execve(shell_.data(), script_arguments_.data(), environment_.data());
        return ENOEXEC;
      }
      if (errno != ENOENT && errno != ENOTDIR) reason = errno;
    }
    return reason;
  }

 private:
  static std::vector<std::string> paths_of(const ChildSpec& spec) {
    const auto path = spec.env.find("PATH");
    return paths_of_program(path == spec.env.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second,
                            spec.words.front());
  }

  std::vector<std::string> words_;
  std::vector<std::string> paths_;
  std::vector<std::string> entries_;
  std::string shell_ = "/bin/sh";
  std::vector<char*> arguments_;
  std::vector<char*> script_arguments_;
  std::vector<char*> environment_;
};

struct Failure {
  int reason = 0;
  bool is_folder = false;
};

// The stack frames below are copies of the parent's: an exception must not reach them.
[[noreturn]] void leave_by(const std::function<int()>& body) noexcept {
  std::string what = "unknown exception\n";
  try {
    _exit(body());
  } catch (const std::exception& error) {
    what = std::string(error.what()) + "\n";
  } catch (...) {
  }
  _exit(write(STDERR_FILENO, what.data(), what.size()) < 0 ? 125 : 1);
}

// Only async-signal-safe calls before `body` runs: this process may have other threads.
[[noreturn]] void become(const ChildSpec& spec, Program& program, const cpu_set_t& cpus,
                         pid_t parent, int in, int out, int err, int report,
                         std::array<int, 4> others) {
  const auto give_up = [&](Failure failure) {
    if (write(report, &failure, sizeof failure) < 0) _exit(125);
    _exit(126);
  };
  if (spec.own_session) {
    setsid();
  } else if (spec.own_group) {
    setpgid(0, 0);
  }
  prctl(PR_SET_PDEATHSIG, spec.death_signal);
  if (getppid() != parent) _exit(126);  // the parent ended before PR_SET_PDEATHSIG was set
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
    give_up({errno, false});
  if (!spec.folder.empty() && chdir(spec.folder.c_str()) != 0) give_up({errno, true});
  if (!spec.cpus.empty()) sched_setaffinity(0, sizeof cpus, &cpus);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (spec.body) {
    for (const int fd : others) close(fd);
    leave_by(spec.body);
  }
  restore_descriptor_limit();
  give_up({program.execute(), false});
  _exit(126);
}

// Moves a descriptor above the standard ones, in case the process was started with one of those
// closed: dup2() onto itself would leave it close-on-exec.
int above_standard(int fd) {
  if (fd > STDERR_FILENO || fd < 0) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return moved;
}

// The descriptors that a child is started with. Closed here, except those that were moved out.
struct ChildEnds {
  ChildEnds() = default;
  ChildEnds(const ChildEnds&) = delete;
  ChildEnds& operator=(const ChildEnds&) = delete;
  ~ChildEnds() {
    for (int* fd :
         {&null, &out.first, &out.second, &err.first, &err.second, &report.first, &report.second})
      close_fd(*fd);
  }
  void open_for(const ChildSpec& spec) {
    null = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null < 0) fail("open");
    if (!spec.output) out = make_pipe();
    if (!spec.error) err = make_pipe();
    report = make_pipe();
  }

  int null = -1;
  FdPair out;
  FdPair err;
  FdPair report;
};

}  // namespace

FdPair make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  FdPair pipe{above_standard(ends[0]), above_standard(ends[1])};
  if (pipe.first >= 0 && pipe.second >= 0) return pipe;
  const int reason = errno;
  close_fd(pipe.first);
  close_fd(pipe.second);
  errno = reason;
  fail("pipe");
}

void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

RankChild::RankChild(const ChildSpec& spec) : own_group_(spec.own_group) {
  Program program(spec);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  ChildEnds ends;
  ends.open_for(spec);
  int& null = ends.null;
  FdPair& out = ends.out;
  FdPair& err = ends.err;
  FdPair& report = ends.report;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    become(spec, program, cpus, parent, spec.input.value_or(null), spec.output.value_or(out.second),
           spec.error.value_or(err.second), report.second,
           {out.first, err.first, report.first, report.second});
  }
  const int reason = errno;
  if (pid_ > 0 && own_group_ && !spec.own_session)
    setpgid(pid_, pid_);  // in parent and child: it may be signalled now
  close_fd(null);
  close_fd(out.second);
  close_fd(err.second);
  close_fd(report.second);
  Failure failure;
  const bool has_failed = pid_ > 0 && again([&] {
                                        return read(report.first, &failure, sizeof failure);
                                      }) == static_cast<ssize_t>(sizeof failure);
  close_fd(report.first);
  out_fd_ = std::exchange(out.first, -1);
  err_fd_ = std::exchange(err.first, -1);
  if (pid_ > 0 && !has_failed) {
    if (out_fd_ >= 0) set_nonblocking(out_fd_);
    if (err_fd_ >= 0) set_nonblocking(err_fd_);
    return;
  }
  close_out();
  close_err();
  if (pid_ < 0) {
    errno = reason;
    fail("fork");
  }
  again([&] { return waitpid(pid_, nullptr, 0); });
  const std::string what =
      failure.is_folder ? "cannot change to the working folder " + spec.folder : spec.words.front();
  const bool is_missing = failure.reason == ENOENT || failure.reason == ENOTDIR;
  throw CannotExecute{is_missing && !failure.is_folder ? 127 : 126,
                      what + ": " + std::strerror(failure.reason) +
                          (failure.is_folder ? " (--chdir selects another)" : "")};
}

RankChild::RankChild(RankChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      own_group_(other.own_group_),
      out_fd_(std::exchange(other.out_fd_, -1)),
      err_fd_(std::exchange(other.err_fd_, -1)) {}

RankChild::~RankChild() {
  close_out();
  close_err();
  if (pid_ < 0) return;
  signal(SIGKILL);
  reap();
}

void RankChild::close_out() {
  close_fd(out_fd_);
}

void RankChild::close_err() {
  close_fd(err_fd_);
}

void RankChild::signal(int number) const {
  if (pid_ <= 0) return;
  // Processes that have left the group, such as torchrun's workers, would survive unsupervised.
  const auto below = own_group_ && number == SIGKILL ? descendants_of(pid_) : std::vector<pid_t>{};
  kill(own_group_ ? -pid_ : pid_, number);
  for (const pid_t process : below) kill(process, number);
}

std::optional<ChildEnd> RankChild::ended() const {
  siginfo_t info{};
  const auto look = [&] {
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  };
  if (again(look) != 0 || info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return ChildEnd{info.si_status, 0};
  return ChildEnd{128 + info.si_status, info.si_status};
}

void RankChild::reap() {
  if (own_group_) signal(SIGKILL);
  again([&] { return waitpid(pid_, nullptr, 0); });
  pid_ = -1;
}

}  // namespace hpcboot::run
