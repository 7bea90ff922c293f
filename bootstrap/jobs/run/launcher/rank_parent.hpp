#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "jobs/run/ranks/event_loop.hpp"

namespace hpcboot::run {

// What must be captured at the start of this process, before it has other threads, which would
// receive its signals: who started it, and the signals sent to it.
struct RankWatch {
  pid_t launcher = getppid();
  // Signals that launchers and users send to programs. This process survives them: they are meant
  // for the program, which is in its group.
  BlockedSignals signals{SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                         SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
};

// A rank that an MPI launcher has started: this process is the parent of its program.
struct RankStart {
  int rank = 0;
  int world_size = 1;
  std::string host;
  std::vector<std::string> words;
  std::map<std::string, std::string> env;
  bool prefix = false;                    // prefix each line of output with rank and host
  bool whole_lines = false;               // the output goes to a file or a pipe
  std::optional<std::string> output_dir;  // its output is also written here
  bool is_agent = false;                  // the program is torchrun, which has its own ranks
  ControlLink* control = nullptr;         // null: `run` gave no address
  Terminal* err = nullptr;                // for messages of this process
};

// Starts the program in this process's session and group, so that the launcher's signals reach it;
// reports its end, and returns when its output is written. A signal from both launcher and `run` is
// delivered once. Processes that it leaves behind are killed.
// @return how it ended; this process must end in the same way
// @throws Error{unwritable_output} if the output cannot be kept; CannotExecute
RankEnd run_rank(const RankStart& start, const RankWatch& watch);

}  // namespace hpcboot::run
