#include "hpcboot/sanitize.hpp"

#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

// What a shell calls a name (POSIX, XBD 3.231).
bool is_shell_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

int sanitize(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("all", "also what tells of the scheduler's job, as if outside of it")(
      "env-file", po::value<std::string>()->value_name("F"),
      "take the variables from this dump of `printenv` or `env -0`");
  const auto values =
      parse(arguments,
            "Usage: $(hpcboot sanitize) mpirun …\n\n"
            "Prints `env -u NAME -u NAME …` with every variable that says who this process is in "
            "its\n"
            "launch: rank, sizes, the PMI connection, the master. A launcher that is started from "
            "within\n"
            "another one (mpirun inside srun, srun inside mpirun) would take itself for a rank of "
            "it.\n"
            "The scheduler's job and hosts stay, so that the launcher finds its resources.\n",
            options);
  if (!values) return 0;
  const Inherit inherit = values->count("all") != 0 ? Inherit::nothing : Inherit::allocation;
  out() << "env";
  for (const std::string& name : variables_to_unset(env_as_asked(*values), inherit)) {
    // A shell splits what $(…) gives, and takes no quotes out of it: a name that is more than a
    // word would bring words of its own into the command line.
    if (is_shell_name(name)) {
      out() << " -u " << name;
    } else {
      err()
          << "note: the variable '" << name
          << "' stays: its name is not of letters, digits and _, and no launcher reads such a one; "
             "remove it by env -u\n";
    }
  }
  out() << "\n";
  return 0;
}

}  // namespace

const Verb kSanitize{"sanitize", "print `env -u …` for a launcher started within another", sanitize,
                     true};

}  // namespace hpcboot::tool
