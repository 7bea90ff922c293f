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

// The environment for debuggers: `env` of the rank, whose PATH is searched for them, without
// variables that would affect them or make them fetch symbols over the network.
std::map<std::string, std::string> environment_for_debuggers(
    std::map<std::string, std::string> env);

// The stack lines in a debugger's output, at most `most`; empty: it could not attach.
std::vector<std::string> stack_lines(std::string_view output, std::size_t most);

// The processes of a rank whose stacks are of interest: `program` and its descendants, except
// shells, torchrun and hpcboot itself while they only wait for others.
std::vector<pid_t> processes_of_rank(pid_t program);

// The kernel's name of it: "python3"
std::string name_of_process(pid_t process);

}  // namespace hpcboot::run
