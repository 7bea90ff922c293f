#include "hpcboot/sanitize.hpp"

#include "options.hpp"

namespace hpcboot::tool {
namespace {

// What a shell accepts as a name (POSIX, XBD 3.231).
bool is_shell_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

options::Command sanitize_command() {
  options::Command command{
      "hpcboot",
      "sanitize",
      "print `env -u …` for a launcher started within another",
      {"$(hpcboot sanitize) mpirun …"},
      {{"$(hpcboot sanitize) mpirun -np 2 ./program", "mpirun within srun"},
       {"$(hpcboot sanitize --all) mpirun -np 2 ./program", "as if outside the job"}}};
  command.details = {
      "Prints `env -u NAME -u NAME …` with every variable that identifies this process in its "
      "launch: rank, sizes, the PMI connection, the master. With these a launcher started within "
      "another one (mpirun in srun, srun in mpirun) would take itself for one of the outer "
      "launcher's ranks. The scheduler's job and hosts stay, so that the launcher finds its "
      "resources."};
  command.groups = {{"Options",
                     {{"all", options::flag(), "also unset what describes the scheduler's job"},
                      {"env-file", options::text("F", options::Completes::file),
                       "take the variables from this dump of `printenv` or `env -0`"}}}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "the file cannot be read, or is not an environment"}};
  return command;
}

int sanitize(const Call& call) {
  const Inherit inherit = call.values.count("all") != 0 ? Inherit::nothing : Inherit::allocation;
  out() << "env";
  for (const std::string& name : variables_to_unset(env_as_asked(call.values), inherit)) {
    // A shell splits the output of $(…) into words, and removes no quotes from it: a name that is
    // not a plain word would add words to the command line.
    if (is_shell_name(name)) {
      out() << " -u " << name;
    } else {
      err() << "note: the variable '" << name
            << "' is kept: its name has other characters than letters, digits and _, and no "
               "launcher reads such names; remove it with env -u\n";
    }
  }
  out() << "\n";
  return 0;
}

}  // namespace

const Verb kSanitize{sanitize_command, sanitize, true};

}  // namespace hpcboot::tool
