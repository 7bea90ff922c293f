#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "text/terminal.hpp"

// The verbs of the program `hpcboot`: one file each, registered in main.cpp.
namespace hpcboot::tool {

using Arguments = std::vector<std::string>;

struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const Arguments& arguments);
  bool asks_launchers =
      false;                 // also those that users' files describe: they are read before it runs
  bool is_internal = false;  // no user writes it: no list of verbs has it
};

extern const Verb kShow;
extern const Verb kEnv;
extern const Verb kExec;
extern const Verb kRun;
extern const Verb kRunAgent;
extern const Verb kRunRank;
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

// Those for users, in the order in which --help tells of them.
std::vector<const Verb*> verbs();

// What `hpcboot --help` prints.
void print_help(Terminal& out);

// A command line that cannot be taken: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hpcboot::tool
