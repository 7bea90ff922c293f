#include "script_submission.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "held_signals.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/redact.hpp"
#include "jobs/job_shape.hpp"
#include "jobs/lint/lint.hpp"
#include "jobs/lint/script.hpp"
#include "jobs/queue/submission.hpp"
#include "jobs/queue/submitted_jobs.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

namespace fs = std::filesystem;
using namespace hpcboot::jobscripts;

queue::Submission submission_of(const ScriptJob& job) {
  const std::string& scheduler = job.site.text("scheduler");
  if (!queue::can_submit(scheduler)) {
    throw UsageError("the scheduler of " + job.site.name() + " is " + scheduler +
                     ", which takes no jobs; start the script with bash");
  }
  return {scheduler, job.file, job.variables, Env::from_process()};
}

CommandOptions passing_signals(std::optional<std::chrono::seconds> limit) {
  CommandOptions options;
  options.limit = limit;
  options.passes_signals = true;
  return options;
}

// A site's own checks may take long.
CommandResult run_check(const std::vector<std::string>& words) {
  return run_command(words, passing_signals(std::chrono::minutes(2)));
}

// sbatch --wait and qsub -W block=true take as long as the job.
CommandResult run_submission(const std::vector<std::string>& words) {
  return run_command(words, passing_signals(std::nullopt));
}

// Errors that the linter finds, in options that the profile or the user has added.
std::vector<queue::LimitProblem> findings_in(const std::string& text) {
  std::vector<queue::LimitProblem> problems;
  for (const lint::Finding& finding : lint::check_script(text)) {
    if (finding.severity == lint::Severity::error)
      problems.push_back({"line " + std::to_string(finding.line) +
                              " of the script: " + finding.found + "; " + finding.why,
                          "a script without errors", finding.remedy});
  }
  return problems;
}

// The options that the profile or the user has added may choose another queue than queue.name.
queue::JobDemand demand_of(const ScriptJob& job, const std::string& text) {
  queue::JobDemand demand;
  demand.shape = shape_of(job.site, job.request);
  demand.queue = job.site.text("queue.name");
  const lint::Script script = lint::read_script(text);
  const bool is_slurm = job.site.text("scheduler") == "slurm";
  const auto added = is_slurm ? script.option(lint::Scheduler::slurm, "partition")
                              : script.option(lint::Scheduler::pbs, "q");
  // "queue@server": the limits of another server are unknown.
  if (added && *added != demand.queue && added->find('@') == std::string::npos) {
    demand.queue = *added;
    demand.chosen_by = "--set queue.options=…";
  }
  if (is_slurm) demand.cluster = script.option(lint::Scheduler::slurm, "clusters").value_or("");
  return demand;
}

std::string text_of_script(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The output file of a job, as the templates name it.
std::vector<std::string> output_of(const ScriptJob& job, const std::string& folder,
                                   const std::string& id) {
  if (job.request.job == "array") return {};  // one file per task
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

queue::SubmittedJob note_of(const ScriptJob& job, const std::string& id) {
  queue::SubmittedJob note;
  note.id = id;
  note.scheduler = job.site.text("scheduler");
  if (note.scheduler == "torque") note.scheduler = "pbs";
  note.site = job.site.name();
  note.name = job.request.name.empty() ? "hpcboot_" + job.request.job : job.request.name;
  note.folder = current_folder();
  note.command = redact_value("hpcboot " + job.request.arguments);
  note.output = output_of(job, note.folder, id);
  const Env env = Env::from_process();
  const auto runs = env.text("RUNS_DIR");
  const bool is_trainer = job.request.program.empty() && job.request.command.empty();
  note.runs_dir = is_trainer && runs ? std::string(*runs) : job.runs_dir;
  if (!job.request.program.empty()) note.runs_dir.clear();
  note.nodes = shape_of(job.site, job.request).nodes;
  note.submitted = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return note;
}

// Adds what the scheduler knows: which of several it is, and files.
void ask_about(queue::SubmittedJob& note, bool is_array) {
  const Env env = Env::from_process();
  auto queue = queue::queue_here(env, run_for_queue, note.scheduler);
  if (!queue) queue = queue::queue_here(env, run_for_queue);  // Slurm has a qsub, too
  if (!queue) return;
  note.scheduler = queue->scheduler();
  note.cluster = queue->cluster();
  if (is_array) return;
  const auto seen = queue->job(note.id);
  if (seen) queue::add_files(note.output, seen->output);
}

}  // namespace

std::vector<std::string> known_sites() {
  return SiteLibrary(Env::from_process()).names();
}

SiteProfile site_as_asked(const po::variables_map& values, const SiteLibrary& library) {
  if ((values.count("site") != 0) == (values.count("site-file") != 0))
    throw UsageError("give either --site or --site-file; `hpcboot script --list` prints the sites");
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

int check_script(const ScriptJob& job) {
  const queue::Submission submission = submission_of(job);
  const std::string text = text_of_script(job.file);
  std::vector<queue::LimitProblem> problems = findings_in(text);
  std::string said;
  const HeldSignals until_the_command_has_ended;
  for (queue::LimitProblem& problem :
       queue::problems_of(submission, demand_of(job, text), run_check, said))
    problems.push_back(std::move(problem));
  if (problems.empty()) out() << terminal_lines(said);
  return print_problems(problems);
}

SubmittedScript submit_script(const ScriptJob& job, bool shows_id) {
  SubmittedScript submitted;
  {
    const HeldSignals until_the_id_is_known;
    const queue::Answer answer = queue::submit(submission_of(job), run_submission);
    err() << terminal_lines(answer.said);
    if (!answer.is_ok && until_the_id_is_known.is_pending()) {
      err() << "hpcboot: interrupted while the job was submitted; the queue shows whether it is "
               "there: hpcboot jobs\n";
      return {1, ""};
    }
    if (!answer.is_ok) {
      err() << "hpcboot: the scheduler did not accept the job, see above; --check instead of "
               "--submit says why\n";
      return {1, ""};
    }
    if (job.site.text("scheduler") == "kubernetes") return {};
    if (answer.id.empty()) {
      err() << "hpcboot: the job is submitted, but the scheduler did not report its id\n";
      return {1, ""};
    }
    submitted.id = answer.id;
    if (shows_id) {
      out() << answer.id << "\n";
      out().flush();
    } else {
      err() << "job " << answer.id << " is submitted\n";
    }
  }
  queue::SubmittedJob note = note_of(job, submitted.id);
  try {
    ask_about(note, job.request.job == "array");
  } catch (const Error&) {
    err() << "note: the scheduler does not answer at the moment\n";
  }
  submitted.scheduler = note.scheduler;
  submitted.output = note.output;
  try {
    queue::SubmittedJobs(Env::from_process()).remember(note);
  } catch (const Error& error) {
    // The job is submitted, even if the note about it cannot be stored.
    err() << "note: " << error.found() << "\n";
  }
  return submitted;
}

}  // namespace hpcboot::tool
