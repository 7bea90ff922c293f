#include "hpcboot/sanitize.hpp"

#include <iostream>

#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

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
  std::cout << "env";
  for (const std::string& name : variables_to_unset(env_as_asked(*values), inherit)) {
    std::cout << " -u " << name;
  }
  std::cout << "\n";
  return 0;
}

}  // namespace

const Verb kSanitize{"sanitize", "print `env -u …` for a launcher started within another",
                     sanitize};

}  // namespace hpcboot::tool
