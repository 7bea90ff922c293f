#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"
#include "text/terminal.hpp"

// The verbs of the program `hpcboot`: one file each, registered in program.cpp.
namespace hpcboot::tool {

using Arguments = std::vector<std::string>;
using options::UsageError;

// A command line of a verb.
struct Call {
  options::po::variables_map values;
  Arguments program;         // after --
  bool has_program = false;  // whether there was a --
  Arguments arguments;       // all, as they were given
};

struct Verb {
  options::Command (*command)() = nullptr;
  int (*run)(const Call& call) = nullptr;
  // Whether it uses the launchers, including those in users' files, which are then read before it
  // runs.
  bool asks_launchers = false;
  // What it prints if it ends with this error, for the shell that evaluates its output; may be
  // null.
  void (*print_failure)(int code) = nullptr;
};

// A verb that hpcboot itself starts, not users: it is not listed, and parses its arguments itself.
struct InternalVerb {
  const char* name;
  int (*run)(const Arguments& arguments);
};

extern const Verb kShow;
extern const Verb kEnv;
extern const Verb kExec;
extern const Verb kRun;
extern const Verb kCheck;
extern const Verb kHosts;
extern const Verb kCapture;
extern const Verb kReplay;
extern const Verb kSanitize;
extern const Verb kDoctor;
extern const Verb kLaunchers;
extern const Verb kLint;
extern const Verb kScript;
extern const Verb kSite;
extern const Verb kJobs;
extern const Verb kLogs;
extern const Verb kCancel;
extern const Verb kCompletion;
extern const Verb kManual;

extern const InternalVerb kRunAgent;
extern const InternalVerb kRunRank;

// The verbs for users, in the order of --help.
const std::vector<const Verb*>& verbs();

// The program with all its verbs, for help, manual page and shell completion.
options::Program program();

// The sites that scripts can be made for, and the ids of the jobs that hpcboot remembers.
std::vector<std::string> known_sites();
std::vector<std::string> remembered_jobs();

}  // namespace hpcboot::tool
