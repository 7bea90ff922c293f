#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

// Programs that print the stacks of a process: gdb, eu-stack (elfutils), and py-spy for Python.
namespace hpcboot::run {

struct Debugger {
  std::string name;                // gdb
  std::vector<std::string> words;  // the whole command
};

// In the order in which they are tried.
std::vector<Debugger> debuggers_for(pid_t process);

// What they are started with: `env` of the rank, whose PATH they are found in, without what would
// change them or let them ask for symbols in the network.
std::map<std::string, std::string> environment_for_debuggers(
    std::map<std::string, std::string> env);

// The lines about stacks in what one has printed, at most so many; empty: it could not look.
std::vector<std::string> stack_lines(std::string_view output, std::size_t most);

// The processes of a rank that have stacks worth a look: `program` and what it has started, but for
// shells, torchrun and hpcboot itself as long as they only wait for others.
std::vector<pid_t> processes_of_rank(pid_t program);

// As the kernel has it: "python3"
std::string name_of_process(pid_t process);

}  // namespace hpcboot::run
