#include "jobs/site_library.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;
using namespace hpcboot::jobscripts;

constexpr const char* kSynopsis =
    "Usage: hpcboot site show SITE\n\n"
    "Prints the profile of a site, which `hpcboot script` makes job scripts of. To describe your\n"
    "own site, change a copy:\n\n"
    "  mkdir -p ~/.config/hpcboot/sites\n"
    "  hpcboot site show generic_slurm > ~/.config/hpcboot/sites/mine.toml\n"
    "  hpcboot script --site mine --job ddp\n\n"
    "hpcboot script --list names the sites.\n";

int site(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("action", po::value<std::string>())("name", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("action", 1).add("name", 1);
  const auto values =
      parse(arguments, kSynopsis, po::options_description("Options"), hidden, positional);
  if (!values) return 0;
  if (values->count("name") == 0 || (*values)["action"].as<std::string>() != "show")
    throw UsageError("site takes show and the name of a site; hpcboot script --list names them");
  // A file of somebody's own may hold anything.
  const SiteLibrary library(Env::from_process());
  out() << terminal_lines(library.text_of((*values)["name"].as<std::string>()));
  return 0;
}

}  // namespace

const Verb kSite{"site", "print the profile of a site", site};

}  // namespace hpcboot::tool
