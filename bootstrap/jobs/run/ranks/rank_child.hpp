#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::run {

// How to start a rank or another supervised process.
struct ChildSpec {
  std::vector<std::string> words;  // the program, looked up in PATH of `env`, and its arguments
  std::map<std::string, std::string> env;
  std::string folder;          // working folder; empty: that of this process
  bool own_group = true;       // leads its own process group
  bool own_session = false;    // and its own session
  int death_signal = SIGKILL;  // sent when the thread that started it ends
  std::optional<int> input;    // its standard input; nullopt: /dev/null
  std::optional<int> output;   // its standard output; nullopt: a pipe, out_fd()
  std::optional<int> error;    // its standard error; nullopt: a pipe, err_fd()
  std::vector<int> cpus;       // affinity; empty: that of this process
  // Runs in the child instead of a program and returns its exit code. It has this process's
  // environment and all of its descriptors. The text of an exception is printed: exit code 1.
  std::function<int()> body;
};

// How a process ended. `signal` 0: not by a signal.
struct ChildEnd {
  int exit_code = 0;  // in the shell's form: 128 + n after signal n
  int signal = 0;
};

// Of each pipe of a child that has ended: more than a pipe holds. A limit, as a process that has
// left the child's group may write forever.
constexpr int kMostLastReads = 64;

// A child process with pipes for its output. It starts with no signal blocked. The rest of its
// group is killed when it is reaped; destruction kills the child and its group.
class RankChild {
 public:
  // @throws CannotExecute; Error{backend_unavailable} if no process or pipe can be created
  explicit RankChild(const ChildSpec& spec);
  RankChild(const RankChild&) = delete;
  RankChild& operator=(const RankChild&) = delete;
  RankChild(RankChild&& other) noexcept;
  RankChild& operator=(RankChild&&) = delete;
  ~RankChild();

  pid_t pid() const { return pid_; }
  // Its output, non-blocking; -1 once closed, or if it writes to a descriptor of the caller.
  int out_fd() const { return out_fd_; }
  int err_fd() const { return err_fd_; }
  void close_out();
  void close_err();

  // Signals the whole group, if it has its own; SIGKILL also goes to descendants that have left the
  // group. No effect once it is reaped.
  void signal(int number) const;
  // How it ended; nullopt while it runs. Its id stays reserved until it is reaped, so that no
  // signal can reach another process.
  std::optional<ChildEnd> ended() const;
  // Kills the rest of its group and releases its id. The process must have ended.
  void reap();

 private:
  pid_t pid_ = -1;
  bool own_group_ = true;
  int out_fd_ = -1;
  int err_fd_ = -1;
};

// A program that cannot be executed.
struct CannotExecute {
  int exit_code = 126;  // 127: not found, as in a shell
  std::string reason;   // "train.py: Permission denied"
};

// The two ends of a close-on-exec pipe or the like, the first for reading.
struct FdPair {
  int first = -1;
  int second = -1;
};
// @throws Error{backend_unavailable}
FdPair make_pipe();
void set_nonblocking(int fd);
// Opens standard streams that were closed at the start. Otherwise this process or a child would
// mistake a socket for standard input or output.
void open_standard_streams();

}  // namespace hpcboot::run
