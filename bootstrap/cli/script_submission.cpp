#include "script_submission.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hpcboot/error.hpp"
#include "jobs/job_shape.hpp"
#include "jobs/lint/lint.hpp"
#include "jobs/queue/submission.hpp"
#include "jobs/queue/submitted_jobs.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
using namespace hpcboot::jobscripts;

queue::Submission submission_of(const ScriptJob& job) {
  const std::string& scheduler = job.site.text("scheduler");
  if (!queue::can_submit(scheduler)) {
    throw UsageError("the scheduler of " + job.site.name() + " is " + scheduler +
                     ", which takes no jobs; start the script with bash");
  }
  return {scheduler, job.file, job.variables};
}

// A site's own checks of a submission take their time.
CommandResult run_without_limit(const std::vector<std::string>& words) {
  return run_command(words, {"", std::nullopt});
}

// What the linter takes for an error: options that the profile or the user has added.
std::vector<queue::LimitProblem> findings_in(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  std::vector<queue::LimitProblem> problems;
  for (const lint::Finding& finding : lint::check_script(text.str())) {
    if (finding.severity == lint::Severity::error)
      problems.push_back(
          {"line " + std::to_string(finding.line) + " of the script: " + finding.found, finding.why,
           finding.remedy});
  }
  return problems;
}

// The file that a job's output goes to, as the templates name it.
std::vector<std::string> output_of(const ScriptJob& job, const std::string& folder,
                                   const std::string& id) {
  if (job.request.job == "array") return {};  // a file for each task
  const std::string& scheduler = job.site.text("scheduler");
  const std::string number = id.substr(0, id.find('.'));
  const std::string name =
      job.request.name.empty() ? "hpcboot_" + job.request.job : job.request.name;
  if (scheduler == "slurm" || !job.request.command.empty()) {
    if (scheduler != "sge") return {folder + "/" + name + "-" + number + ".out"};
  }
  return {};
}

int print_problems(const std::vector<queue::LimitProblem>& problems) {
  int code = 0;
  for (const queue::LimitProblem& problem : problems) {
    const Error error(ErrorCode::malformed_value, problem.found, problem.expected, problem.remedy);
    print_error("hpcboot", error);
    code = error.exit_code();
  }
  return code;
}

std::string current_folder() {
  std::error_code none;
  return fs::current_path(none).string();
}

std::string remember(const ScriptJob& job, const std::string& id) {
  const Env env = Env::from_process();
  queue::SubmittedJob submitted;
  submitted.id = id;
  submitted.site = job.site.name();
  submitted.name = job.request.name.empty() ? "hpcboot_" + job.request.job : job.request.name;
  submitted.folder = current_folder();
  submitted.command = "hpcboot " + job.request.arguments;
  submitted.output = output_of(job, submitted.folder, id);
  const auto runs = env.text("RUNS_DIR");
  const bool is_trainer = job.request.program.empty() && job.request.command.empty();
  submitted.runs_dir = is_trainer && runs ? std::string(*runs) : job.runs_dir;
  if (!job.request.program.empty()) submitted.runs_dir.clear();
  submitted.nodes = shape_of(job.site, job.request).nodes;
  submitted.submitted = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  // Slurm has a qsub, too.
  std::string scheduler = job.site.text("scheduler");
  if (scheduler == "torque") scheduler = "pbs";
  auto queue = queue::queue_here(env, run_for_queue, scheduler);
  if (!queue) queue = queue::queue_here(env, run_for_queue);
  submitted.scheduler = queue ? queue->scheduler() : scheduler;
  if (queue) {
    submitted.cluster = queue->cluster();
    const auto seen = queue->job(id);
    for (const std::string& file : seen ? seen->output : std::vector<std::string>()) {
      if (std::find(submitted.output.begin(), submitted.output.end(), file) ==
          submitted.output.end())
        submitted.output.push_back(file);
    }
  }
  queue::SubmittedJobs(env).remember(submitted);
  return queue ? queue->scheduler() : "";
}

}  // namespace

SiteProfile site_as_asked(const po::variables_map& values, const SiteLibrary& library) {
  if ((values.count("site") != 0) == (values.count("site-file") != 0))
    throw UsageError("it takes --site or --site-file; `hpcboot script --list` prints the sites");
  SiteProfile site = values.count("site-file") != 0
                         ? SiteProfile::read(values["site-file"].as<std::string>())
                         : library.read(values["site"].as<std::string>());
  apply_settings(values, site);
  return site;
}

void apply_settings(const po::variables_map& values, SiteProfile& site) {
  if (values.count("set") == 0) return;
  for (const std::string& setting : values["set"].as<std::vector<std::string>>()) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      throw UsageError("--set takes KEY=VALUE, not '" + setting + "'");
    site.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
}

std::string programs_for(const std::string& output) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path checkout = folder.parent_path().parent_path();
  std::error_code none;
  const bool is_in_checkout = fs::is_directory(checkout / "jobscripts/sites", none) &&
                              folder == checkout / "build/bin" &&
                              fs::equivalent(checkout, ".", none);
  if (!is_in_checkout) return folder.string();
  const fs::path script = fs::weakly_canonical(fs::absolute(output.empty() ? "x" : output), none);
  const std::string within = script.lexically_relative(fs::canonical(checkout, none)).string();
  return none || within.rfind("..", 0) == 0 ? folder.string() : "";
}

void write_script(const std::string& file, const std::string& script) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << script;
  stream.close();
  std::error_code failure;
  // A device or a FIFO keeps its mode: it is not ours to change, and root could.
  if (stream && fs::is_regular_file(file, failure)) {
    const mode_t mask = umask(0);
    umask(mask);
    fs::permissions(file, fs::perms(0111 & ~mask), fs::perm_options::add, failure);
  }
  if (!stream || failure) {
    throw Error(ErrorCode::unwritable_output, "the script cannot be written to " + file,
                "a file in a folder that can be written", "correct --output");
  }
}

int check_script(const ScriptJob& job) {
  const queue::Submission submission = submission_of(job);
  std::vector<queue::LimitProblem> problems = findings_in(job.file);
  std::string said;
  for (queue::LimitProblem& problem : queue::problems_of(
           submission, {shape_of(job.site, job.request), job.site.text("queue.name")},
           run_without_limit, said))
    problems.push_back(std::move(problem));
  if (problems.empty()) out() << terminal_lines(said);
  return print_problems(problems);
}

SubmittedScript submit_script(const ScriptJob& job, bool shows_id) {
  const queue::Answer answer = queue::submit(submission_of(job), run_without_limit);
  err() << terminal_lines(answer.said);
  if (!answer.is_ok) return {1, ""};
  if (answer.id.empty()) return {0, ""};
  if (shows_id) {
    out() << answer.id << "\n";
  } else {
    err() << "job " << answer.id << " is submitted\n";
  }
  SubmittedScript submitted{0, answer.id};
  try {
    submitted.scheduler = remember(job, answer.id);
  } catch (const Error& error) {
    // The job is submitted, whatever becomes of the note about it.
    err() << "note: " << error.found() << "\n";
  }
  return submitted;
}

}  // namespace hpcboot::tool
