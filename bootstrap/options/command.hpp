#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/option.hpp"

namespace hpcboot::options {

/// A name and its description: an exit code, a variable, a file, an example.
struct Entry {
  std::string name;
  std::string text;
};

/// A positional argument; they are parsed in order.
struct Operand {
  std::string key;  ///< in the parsed values
  Value value;
  int most = 1;  ///< -1: any number
};

/// A program, or one of its verbs, as presented to users.
struct Command {
  std::string program;             ///< "hpcboot"
  std::string verb;                ///< "run"; empty for the program itself
  std::string summary;             ///< a sentence without its full stop: "print …"
  std::vector<std::string> usage;  ///< command lines
  std::vector<Entry> examples;     ///< a command line each, and what it does
  std::vector<std::string>
      details{};  ///< paragraphs; one that begins with a space is kept as it is
  std::vector<Group> groups{};
  std::vector<Operand> operands{};
  std::vector<Entry> environment{};
  std::vector<Entry> files{};
  std::vector<Entry> exit_codes{};
  std::string more{};           ///< where to read more
  bool takes_program = false;   ///< everything after -- is another program's
  bool takes_anything = false;  ///< also unknown options
};

/// A program with its verbs.
struct Program {
  Command command;
  std::string version;
  std::vector<Command> verbs{};
  std::vector<Entry> environment{};  ///< of all verbs: for the manual page
  std::vector<Entry> files{};        ///< the same
};

/// A parsed command line.
struct Parsed {
  po::variables_map values;
  std::vector<std::string> program;  ///< after --
  bool has_program = false;          ///< whether there was a --
};

/// The command with --help and --version.
Command with_general_options(Command command);

/// Parses the arguments of a command. Options cannot be abbreviated: an abbreviation could change
/// its meaning when an option is added. If an option is repeated, the last one counts, so that a
/// script can add its user's options ("$@") to its own. Answers --help and --version on standard
/// output, and then returns nullopt. Values are not notified yet, so that a configuration file can
/// be read first.
/// @throws UsageError
std::optional<Parsed> parse(const Command& command, const std::string& version,
                            const std::vector<std::string>& arguments);

/// po::notify(), and the choices of options and operands. @throws UsageError
void finish(const Command& command, po::variables_map& values);

}  // namespace hpcboot::options
