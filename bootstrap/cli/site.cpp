#include "jobs/probe/probed_site.hpp"
#include "jobs/site_library.hpp"
#include "options.hpp"
#include "process/command.hpp"

namespace hpcboot::tool {
namespace {

using namespace hpcboot::jobscripts;

std::optional<std::string> answer_to(const std::vector<std::string>& words) {
  const CommandResult result = run_command(words);
  return result.is_ok() ? std::optional(result.output) : std::nullopt;
}

options::Command site_command() {
  options::Command command{
      "hpcboot",
      "site",
      "describe this cluster, or print the profile of a site",
      {"hpcboot site probe [OPTIONS]", "hpcboot site show SITE"},
      {{"mkdir -p ~/.config/hpcboot/sites", "where profiles are looked up"},
       {"hpcboot site probe > ~/.config/hpcboot/sites/mine.toml", "describe this cluster"},
       {"hpcboot script --site mine --job ddp", "make a job script from it"}}};
  command.details = {
      "`hpcboot script` makes job scripts from a profile of the site. probe asks the scheduler of "
      "this machine (Slurm, PBS, Torque, Grid Engine, LSF) and prints a profile, for you to review "
      "and edit. show prints an existing one. `hpcboot script --list` lists the sites."};
  command.groups = {{"Options",
                     {{"scheduler",
                       options::text_or("S", "")
                           .otherwise_is("the first that answers")
                           .suggest({"slurm", "pbs", "torque", "sge", "lsf"}),
                       "ask only this scheduler: slurm, pbs, torque, sge or lsf"}}}};
  command.operands = {{"action", options::choice({"probe", "show"}), 1},
                      {"name", options::text("SITE", options::Completes::site), 1}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the command line is wrong"},
                        {"20", "SITE or the scheduler is unknown"},
                        {"30", "no scheduler answers"}};
  command.more = "jobscripts/README.md lists the keys of a profile";
  return command;
}

int site(const Call& call) {
  const std::string action =
      call.values.count("action") != 0 ? call.values["action"].as<std::string>() : "";
  const bool has_name = call.values.count("name") != 0;
  // The output of schedulers and the files of users may contain anything.
  if (action == "probe" && !has_name) {
    out() << terminal_lines(probe(answer_to, call.values["scheduler"].as<std::string>()));
  } else if (action == "show" && has_name) {
    const SiteLibrary library(Env::from_process());
    out() << terminal_lines(library.text_of(call.values["name"].as<std::string>()));
  } else {
    throw UsageError("site needs probe, or show and the name of a site");
  }
  return 0;
}

}  // namespace

const Verb kSite{site_command, site};

}  // namespace hpcboot::tool
