#include "hpcboot/error.hpp"
#include "options.hpp"
#include "run_submit.hpp"

namespace hpcboot::tool {
namespace {

// The options are not known here: whatever is asked, the answer is why.
int say_why(const Arguments& arguments, const char* synopsis) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "--version")) {
    parse(arguments, synopsis, boost::program_options::options_description("Options"));
    return 0;
  }
  throw Error(ErrorCode::backend_unavailable, "this build has no job scripts",
              "toml++ and mstch when hpcboot is built",
              "install libtomlplusplus-dev and libmstch-dev, or configure where the internet is "
              "reachable");
}

int script(const Arguments& arguments) {
  return say_why(
      arguments,
      "Usage: hpcboot script --site S --job J [OPTIONS]\n\n"
      "Prints the job script of a site. This build cannot: it lacks toml++ or mstch. The "
      "rendered\nscripts in jobscripts/ can be submitted as they are.\n");
}

int site(const Arguments& arguments) {
  return say_why(arguments,
                 "Usage: hpcboot site probe\n       hpcboot site show SITE\n\n"
                 "Prints profiles of sites. This build cannot: it lacks toml++ or mstch.\n");
}

int jobs(const Arguments& arguments) {
  return say_why(arguments,
                 "Usage: hpcboot jobs|logs|cancel JOB…\n\n"
                 "Lists, shows and ends jobs. This build cannot: it lacks toml++ or mstch.\n");
}

}  // namespace

boost::program_options::options_description submit_options() {
  boost::program_options::options_description options("From a login node");
  options.add_options()("submit", "not in this build, which lacks toml++ or mstch");
  return options;
}

void require_no_submit_options(const boost::program_options::variables_map& /*values*/) {}

int submit_run(const boost::program_options::variables_map& /*values*/,
               const boost::program_options::options_description& /*run_options*/,
               const std::vector<std::string>& /*command*/) {
  return say_why({}, "");
}

const Verb kScript{"script", "print, check or submit the job script of a site", script};
const Verb kSite{"site", "describe this cluster, or print the profile of a site", site};
const Verb kJobs{"jobs", "your jobs: where they run, or why they wait", jobs};
const Verb kLogs{"logs", "what a job has written", jobs};
const Verb kCancel{"cancel", "end jobs", jobs};

}  // namespace hpcboot::tool
