#include "run_submit.hpp"

#include <filesystem>
#include <set>

#include "core/contains.hpp"
#include "core/nearest_name.hpp"
#include "core/program_path.hpp"
#include "held_signals.hpp"
#include "hpcboot/error.hpp"
#include "jobs/probe/probed_site.hpp"
#include "jobs/run/launcher/private_file.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"
#include "script_submission.hpp"
#include "script_words.hpp"
#include "submit_request.hpp"
#include "trainer_runs.hpp"

namespace hpcboot::tool {
namespace {

using namespace hpcboot::jobscripts;

// The user's only profile, else what the scheduler reports about this machine.
SiteProfile site_by_default(const SiteLibrary& library) {
  std::vector<std::string> own;
  for (const std::string& name : library.names()) {
    if (!library.has_as_shipped(name)) own.push_back(name);
  }
  if (own.size() > 1) throw UsageError("--submit needs --site; yours are: " + listed(own));
  if (!own.empty()) return library.read(own.front());
  SiteProfile site = SiteProfile::parse("here.toml", probe(queue::ask_by(run_for_queue)));
  err() << "note: no --site: using what " << site.text("scheduler")
        << " reports about its hosts (hpcboot site probe)\n";
  return site;
}

SiteProfile site_of(const po::variables_map& values) {
  const SiteLibrary library(Env::from_process());
  const bool is_named = values.count("site") != 0 || values.count("site-file") != 0;
  SiteProfile site = is_named ? site_as_asked(values, library) : site_by_default(library);
  if (!is_named) apply_settings(values, site);
  const std::string& scheduler = site.text("scheduler");
  if (scheduler == "none" || scheduler == "kubernetes") {
    throw UsageError("--submit needs a site with a batch scheduler; that of " + site.name() +
                     " is " + scheduler +
                     (scheduler == "none" ? ": omit --submit, and give --hostfile"
                                          : ": see hpcboot script --site " + site.name()));
  }
  return site;
}

// The job may have another PATH, and under PBS none of this shell's environment: only the full path
// selects a virtual environment's python. Within a container, paths differ.
std::vector<std::string> with_path(std::vector<std::string> command, const SiteProfile& site,
                                   const Env& env) {
  std::string& program = command.front();
  if (program.find('/') != std::string::npos || !site.text("container.image").empty())
    return command;
  const std::string found = find_program(env.text("PATH").value_or("/usr/bin:/bin"), program);
  if (found.empty()) {
    err() << "note: " << program
          << " is not in PATH here; the job will look for it in its own PATH\n";
    return command;
  }
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(found, none);
  // The site's modules may provide one that replaces the system's.
  const auto system_folders = {"/bin", "/usr/bin", "/usr/local/bin"};
  const bool is_of_system = contains(system_folders, whole.parent_path());
  if (!is_of_system || site.list("build.modules").empty()) program = whole.string();
  return command;
}

std::string words_of(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + bash_quote(word);
  return text;
}

// Slurm would expand a % in the folder's name as part of the output file's name pattern.
void require_folder() {
  std::error_code none;
  const std::string folder = std::filesystem::current_path(none).string();
  if (none || folder.find('%') != std::string::npos) {
    throw Error(
        ErrorCode::malformed_value,
        "the folder to submit from: " + (none ? std::string("it no longer exists") : folder),
        "an existing folder without % in its name", "cd to another folder");
  }
}

int wait_for(const SubmittedScript& submitted, bool shows_output) {
  const std::string& id = submitted.id;
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  const auto queue = require_queue(queue::queue_here(env, run_for_queue, submitted.scheduler),
                                   submitted.scheduler);
  err() << "note: Ctrl-C leaves job " << id << " alone; hpcboot cancel " << id << " ends it\n";
  JobWatch watch(*queue, memory, shows_output);
  watch.add_output(submitted.output);
  const queue::QueuedJob end = watch.wait(id);
  err() << news_of_end(end) << "\n";
  return exit_code_of(end);
}

}  // namespace

options::Group submit_options() {
  using options::Completes;
  using options::flag;
  using options::text;
  return {"With --submit, from a login node",
          {{"submit", flag(),
            "submit a job that does this, and print its id; with --dry-run print the script"},
           {"site",
            text("S", Completes::site)
                .otherwise_is("your only profile, else what the scheduler reports"),
            "the site"},
           {"site-file", text("F", Completes::file), "use the profile in this file, not --site"},
           {"time", text("HH:MM:SS").otherwise_is("the site's queue.time"), "walltime"},
           {"gpus-per-node", options::number("N").otherwise_is("one for each rank"),
            "GPUs of each node; 0 runs on CPUs"},
           {"account", text("A"), "account or project"},
           {"mail", text("ADDRESS"), "send mail to ADDRESS when the job starts, ends or fails"},
           {"name", text("NAME").otherwise_is("the program's"), "name of the job"},
           {"set", options::list("KEY=VALUE"),
            "change a key of the profile, such as queue.name=short; may be repeated"},
           {"no-check", flag(), "submit even if the job exceeds the limits of the queue"},
           {"wait", flag(), "wait until the job has ended, and exit with its exit code"},
           {"follow", flag(), "like --wait, and show what the job writes"}}};
}

void require_no_submit_options(const po::variables_map& values) {
  for (const options::Option& option : submit_options().options) {
    if (values.count(option.long_name()) != 0)
      throw UsageError("--" + option.long_name() + " needs --submit");
  }
}

int submit_run(const po::variables_map& values, const std::vector<options::Group>& run_options,
               const std::vector<std::string>& command) {
  const Env env = Env::from_process();
  require_folder();
  ScriptJob job{site_of(values), {}, "", {}, runs_dir_of(command)};
  job.request = submit_request(values, job.site, command);
  job.request.command = with_path(command, job.site, env);
  job.request.programs = programs_for("");
  const std::string options = option_words(values, run_options, {"dry-run", "wait", "follow"});
  job.request.arguments = "run " + options + (options.empty() ? "-- " : " -- ") + words_of(command);
  const std::string& scheduler = job.site.text("scheduler");
  const bool takes_qsub = scheduler != "slurm" && scheduler != "lsf";
  job.variables = variables_by_name(values, env, takes_qsub);
  if (takes_qsub && !job.variables.empty())
    err() << "note: qstat -f shows the values of --env to every user\n";
  const std::string script =
      render_job_script(TemplateRenderer(shipped_templates()), job.site, job.request);
  for (const std::string& note : notes_on(job.site, job.request)) err() << "note: " << note << "\n";
  if (values.count("dry-run") != 0) {
    out() << Encoded::as_is(script);
    return 0;
  }
  const bool follows = values.count("follow") != 0;
  SubmittedScript submitted;
  {
    const HeldSignals until_the_file_is_removed;
    const run::PrivateFile file(script);
    job.file = file.path();
    if (values.count("no-check") == 0) {
      const CapturedOutput what_fits;
      if (const int code = check_script(job); code != 0) return code;
    }
    if (until_the_file_is_removed.is_pending()) return 1;
    submitted = submit_script(job, !follows);
  }
  if (submitted.exit_code != 0 || submitted.id.empty()) return submitted.exit_code;
  if (follows || values.count("wait") != 0) return wait_for(submitted, follows);
  err() << "note: hpcboot logs -f " << submitted.id << " shows what it writes\n";
  return 0;
}

}  // namespace hpcboot::tool
