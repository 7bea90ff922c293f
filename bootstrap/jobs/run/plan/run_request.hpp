#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::run {

// What the user asks `hpcboot run` for: its command line, parsed and checked for form only.
struct RunRequest {
  std::vector<std::string> command;             // PROGRAM and its arguments; never empty
  std::optional<std::string> launcher;          // --launcher
  std::optional<std::string> hostfile;          // --hostfile, a path
  std::optional<int> nodes;                     // --nodes
  std::optional<int> ranks;                     // -n, --ranks
  std::optional<std::string> ranks_per_node;    // --ranks-per-node: a number, gpu, numa or core
  std::vector<std::string> env;                 // --env, each NAME or NAME=VALUE
  std::optional<std::string> chdir;             // --chdir
  std::optional<std::string> output_dir;        // --output-dir, an absolute path
  std::optional<std::string> stage;             // --stage, an absolute path
  std::vector<std::string> launcher_args;       // --launcher-args, one word each
  bool gpu_bind = false;                        // --gpu-bind auto: a rank sees its own device only
  bool oversubscribe = false;                   // --oversubscribe
  bool torchrun = false;                        // --torchrun: one per node starts the ranks
  bool prefix = true;                           // not --no-prefix
  bool whole_lines = false;                     // standard output is a file or a pipe
  std::chrono::seconds timeout{60};             // for the rendezvous of the ranks
  std::optional<std::chrono::seconds> warn;     // --warn: before the end of the walltime
  bool requeue = false;                         // --requeue
  int retries = 3;                              // --retries
  std::optional<std::chrono::seconds> silence;  // --silence: limit of all ranks' silence
};

}  // namespace hpcboot::run
