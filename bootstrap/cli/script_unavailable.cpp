#include "hpcboot/error.hpp"
#include "options.hpp"
#include "run_submit.hpp"

// The verbs of job scripts in a build that lacks toml++ or mstch.
namespace hpcboot::tool {
namespace {

int say_why(const Call& /*call*/) {
  throw Error(ErrorCode::backend_unavailable, "this build has no job scripts",
              "toml++ and mstch when hpcboot is built",
              "install libtomlplusplus-dev and libmstch-dev, or configure where the internet is "
              "reachable");
}

options::Command unavailable(const std::string& verb, const std::string& summary) {
  options::Command command{"hpcboot", verb, summary, {"hpcboot " + verb + " …"}, {}};
  command.details = {
      "Not available: this build lacks toml++ or mstch. The rendered scripts in jobscripts/ can be "
      "submitted as they are."};
  command.takes_anything = true;
  command.operands = {{"words", options::list("WORD"), -1}};
  command.exit_codes = {{"30", "always"}};
  return command;
}

options::Command script_command() {
  return unavailable("script", "print, check or submit the job script of a site");
}
options::Command site_command() {
  return unavailable("site", "describe this cluster, or print the profile of a site");
}
options::Command jobs_command() {
  return unavailable("jobs", "list your jobs: where they run, or why they wait");
}
options::Command logs_command() {
  return unavailable("logs", "print what a job has written");
}
options::Command cancel_command() {
  return unavailable("cancel", "cancel jobs that are waiting or running");
}

}  // namespace

options::Group submit_options() {
  return {"With --submit, from a login node",
          {{"submit", options::flag(), "not available: this build lacks toml++ or mstch"}}};
}

void require_no_submit_options(const po::variables_map& /*values*/) {}

int submit_run(const po::variables_map& /*values*/,
               const std::vector<options::Group>& /*run_options*/,
               const std::vector<std::string>& /*command*/) {
  return say_why({});
}

std::vector<std::string> known_sites() {
  return {};
}
std::vector<std::string> remembered_jobs() {
  return {};
}

const Verb kScript{script_command, say_why};
const Verb kSite{site_command, say_why};
const Verb kJobs{jobs_command, say_why};
const Verb kLogs{logs_command, say_why};
const Verb kCancel{cancel_command, say_why};

}  // namespace hpcboot::tool
