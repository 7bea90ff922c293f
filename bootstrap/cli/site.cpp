#include "jobs/probe/probed_site.hpp"
#include "jobs/site_library.hpp"
#include "options.hpp"
#include "process/command.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;
using namespace hpcboot::jobscripts;

constexpr const char* kSynopsis =
    "Usage: hpcboot site probe [--scheduler S]\n"
    "       hpcboot site show SITE\n\n"
    "A profile describes a site, and `hpcboot script` makes job scripts of it. probe asks the\n"
    "scheduler of this machine (Slurm, PBS, Torque, Grid Engine, LSF) and prints a profile of "
    "what\n"
    "it says, to be read and changed; show prints one that there is.\n\n"
    "  mkdir -p ~/.config/hpcboot/sites\n"
    "  hpcboot site probe > ~/.config/hpcboot/sites/mine.toml\n"
    "  hpcboot script --site mine --job ddp\n\n"
    "hpcboot script --list names the sites.\n";

std::optional<std::string> answer_to(const std::vector<std::string>& words) {
  const CommandResult result = run_command(words);
  return result.is_ok() ? std::optional(result.output) : std::nullopt;
}

int site(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("action", po::value<std::string>())("name", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("action", 1).add("name", 1);
  po::options_description options("Options");
  options.add_options()(
      "scheduler", po::value<std::string>()->default_value("", "")->value_name("S"),
      "ask this one alone: slurm, pbs, torque, sge or lsf [the first that answers]");
  const auto values = parse(arguments, kSynopsis, options, hidden, positional);
  if (!values) return 0;
  const std::string action =
      values->count("action") != 0 ? (*values)["action"].as<std::string>() : "";
  const bool has_name = values->count("name") != 0;
  // What schedulers and files of somebody's own say may be anything.
  if (action == "probe" && !has_name) {
    out() << terminal_lines(probe(answer_to, (*values)["scheduler"].as<std::string>()));
  } else if (action == "show" && has_name) {
    const SiteLibrary library(Env::from_process());
    out() << terminal_lines(library.text_of((*values)["name"].as<std::string>()));
  } else {
    throw UsageError("site takes probe, or show and the name of a site");
  }
  return 0;
}

}  // namespace

const Verb kSite{"site", "describe this cluster, or print the profile of a site", site};

}  // namespace hpcboot::tool
