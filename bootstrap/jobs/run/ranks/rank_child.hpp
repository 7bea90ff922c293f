#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::run {

// What a rank, or another process that is supervised, is started as.
struct ChildSpec {
  std::vector<std::string> words;  // the program, looked up in PATH of `env`, and its arguments
  std::map<std::string, std::string> env;
  std::string folder;          // to work in; empty: as this process
  bool own_group = true;       // the leader of a process group of its own
  bool own_session = false;    // and of a session of its own
  int death_signal = SIGKILL;  // what it gets when the thread that started it ends
  std::optional<int> input;    // its standard input; nullopt: /dev/null
  std::optional<int> output;   // its standard output; nullopt: a pipe, out_fd()
  std::optional<int> error;    // its standard error; nullopt: a pipe, err_fd()
  std::vector<int> cpus;       // to run on; empty: as this process
  // In place of a program: what the child does, up to its exit code. It has this process's
  // environment, and all of its descriptors. The text of an exception is printed: exit code 1.
  std::function<int()> body;
};

// How a process ended. `signal` 0: none ended it.
struct ChildEnd {
  int exit_code = 0;  // as a shell has it: 128 + n after signal n
  int signal = 0;
};

// A process of this one's, with pipes for its output. It starts with no signal blocked. What is
// left of its group is killed when it is reaped, and with it when this is destroyed.
class RankChild {
 public:
  // @throws CannotExecute; Error{backend_unavailable} where no process or pipe is to be had
  explicit RankChild(const ChildSpec& spec);
  RankChild(RankChild&& other) noexcept;
  RankChild& operator=(RankChild&&) = delete;
  ~RankChild();

  pid_t pid() const { return pid_; }
  // Where its output is read, without blocking; -1 once closed, or where it has a descriptor of the
  // caller's.
  int out_fd() const { return out_fd_; }
  int err_fd() const { return err_fd_; }
  void close_out();
  void close_err();

  // To the whole group, where it has one of its own; SIGKILL also to what it has started and has
  // left the group. Nothing happens once it is reaped.
  void signal(int number) const;
  // How it ended; nullopt while it runs. Its id stays taken until it is reaped, so that no signal
  // can reach another process.
  std::optional<ChildEnd> ended() const;
  // Kills what is left of its group and lets go of its id. It has to have ended.
  void reap();

 private:
  pid_t pid_ = -1;
  bool own_group_ = true;
  int out_fd_ = -1;
  int err_fd_ = -1;
};

// A program that cannot be executed.
struct CannotExecute {
  int exit_code = 126;  // 127: not found, as a shell has it
  std::string reason;   // "train.py: Permission denied"
};

// Close-on-exec pipes and the like: the two ends, the first for reading.
struct FdPair {
  int first = -1;
  int second = -1;
};
// @throws Error{backend_unavailable}
FdPair make_pipe();
void set_nonblocking(int fd);
// Of those that were closed at the start. Else a socket would be taken for standard input or
// output, by this process or a child.
void open_standard_streams();

}  // namespace hpcboot::run
