#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/version.hpp"
#include "options/help.hpp"
#include "options/wrong_value.hpp"
#include "process/signal_set.hpp"
#include "text/style.hpp"
#include "verbs.hpp"

namespace {

using namespace hpcboot::tool;
namespace options = hpcboot::options;

constexpr int kWrongUsage = 2;

void print_help(hpcboot::Terminal& to, int descriptor) {
  to << options::help_text(program(), options::help_width(), hpcboot::has_colour(descriptor));
}

int run_verb(const Verb& verb, const options::Command& command, const Arguments& arguments) {
  auto parsed = options::parse(command, std::string(hpcboot::version()), arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  if (verb.asks_launchers)
    hpcboot::add_launchers(hpcboot::read_user_launchers(hpcboot::Env::from_process()));
  return verb.run(
      {std::move(parsed->values), std::move(parsed->program), parsed->has_program, arguments});
}

const Verb* find_verb(const std::string& name) {
  for (const Verb* verb : verbs()) {
    if (name == verb->command().verb) return verb;
  }
  return nullptr;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    print_help(hpcboot::err(), STDERR_FILENO);
    return kWrongUsage;
  }
  std::string name = argv[1];
  Arguments arguments(argv + 2, argv + argc);
  if (name == "help" && !arguments.empty()) {
    name = arguments.front();
    arguments = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(hpcboot::out(), STDOUT_FILENO);
    return 0;
  }
  if (name == "--version") {
    hpcboot::out() << "hpcboot " << hpcboot::version() << "\n";
    return 0;
  }
  for (const InternalVerb* verb : {&kRunAgent, &kRunRank}) {
    if (name == verb->name) {
      hpcboot::add_launchers(hpcboot::read_user_launchers(hpcboot::Env::from_process()));
      return verb->run(arguments);
    }
  }
  if (const Verb* verb = find_verb(name)) return run_verb(*verb, verb->command(), arguments);
  if (name.rfind('-', 0) == 0)
    throw UsageError("unrecognised option '" + name +
                     "'; only --help and --version may come before a verb");
  throw UsageError(options::wrong_verb(program(), name));
}

// Reports errors.
int exit_code_of_run(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    // A full disk or a closed pipe shows only when the buffer is written out.
    if (!hpcboot::out().is_good()) {
      hpcboot::err() << "hpcboot: standard output cannot be written\n";
      return 1;
    }
    return code;
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("hpcboot", error);
    return error.exit_code();
  } catch (const UsageError& error) {
    hpcboot::err() << "hpcboot: " << error.what() << "\n";
    return kWrongUsage;
  } catch (const std::bad_alloc&) {
    hpcboot::err() << "hpcboot: out of memory\n";
    return 1;
  } catch (const std::exception& error) {
    hpcboot::err() << "hpcboot: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  hpcboot::block_size_signal();
  const int code = exit_code_of_run(argc, argv);
  // As all verbs, with a wrong command line it prints only the error.
  if (code == 0 || code == kWrongUsage) return code;
  const Verb* verb = argc > 1 ? find_verb(argv[1]) : nullptr;
  if (verb != nullptr && verb->print_failure != nullptr) verb->print_failure(code);
  return code;
}
