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

// What has to be known and held from the start of this process on, before it has other threads,
// which would get its signals: who started it, and what it is told meanwhile.
struct RankWatch {
  pid_t launcher = getppid();
  // What launchers and people send to programs. This process outlives them: the program is in its
  // group, and they are meant for that.
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
  bool prefix = false;                    // each line of output begins with rank and host
  std::optional<std::string> output_dir;  // where its output is written to as well
  bool is_agent = false;                  // the program is torchrun, which has ranks of its own
  ControlLink* control = nullptr;         // null: `run` has not named a place
  Terminal* err = nullptr;                // for words of this process's own
};

// Starts the program in this process's session and group, so that what the launcher signals there
// reaches it, reports its end, and stays until its output is written. What `run` tells it as well
// it is told once. What it leaves behind is killed.
// @return how it ended; this process is to end in the same way
// @throws Error{unwritable_output} if the output cannot be kept; CannotExecute
RankEnd run_rank(const RankStart& start, const RankWatch& watch);

}  // namespace hpcboot::run
