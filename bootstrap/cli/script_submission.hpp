#pragma once

#include <string>
#include <vector>

#include "jobs/job_script.hpp"
#include "jobs/site_library.hpp"
#include "options/option.hpp"

// Shared by `script` and `run --submit`.
namespace hpcboot::tool {

// The profile that --site or --site-file names, as --set changes it. @throws UsageError
jobscripts::SiteProfile site_as_asked(const options::po::variables_map& values,
                                      const jobscripts::SiteLibrary& library);

// Each KEY=VALUE of --set. @throws UsageError
void apply_settings(const options::po::variables_map& values, jobscripts::SiteProfile& site);

// Where the script looks for hpcboot's programs: in build/bin of the folder that it is submitted
// from, if this program appears to be in build/bin of that checkout; else in this program's folder.
// @param output the script's file; empty: a temporary file
// @return empty for build/bin
std::string programs_for(const std::string& output);

// A script that was written, and what it was made from.
struct ScriptJob {
  jobscripts::SiteProfile site;
  jobscripts::ScriptRequest request;
  std::string file;
  std::vector<std::string> variables{};  // passed to the job by name
  std::string runs_dir = "runs";         // of the trainer; empty for another program
};

// Prints what is wrong with it, or when it may start. @return the exit code
int check_script(const ScriptJob& job);

struct SubmittedScript {
  int exit_code = 0;
  std::string id;
  std::string scheduler{};            // that knows the job
  std::vector<std::string> output{};  // the files that it writes to
};

// Submits it, prints the job's id and remembers it. Signals that would end this process are blocked
// until the id is known.
// @param shows_id false: the id goes to standard error
SubmittedScript submit_script(const ScriptJob& job, bool shows_id = true);

}  // namespace hpcboot::tool
