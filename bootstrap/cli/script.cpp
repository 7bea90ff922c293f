#include <unistd.h>

#include "held_signals.hpp"
#include "hpcboot/error.hpp"
#include "jobs/job.hpp"
#include "jobs/job_script.hpp"
#include "jobs/run/launcher/private_file.hpp"
#include "jobs/site_library.hpp"
#include "options.hpp"
#include "script_file.hpp"
#include "script_submission.hpp"
#include "script_words.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

using namespace hpcboot::jobscripts;

options::Group script_options() {
  using options::Completes;
  using options::flag;
  using options::number;
  using options::text;
  return {
      "Options",
      {{"site", text("S", Completes::site), "the site"},
       {"job", text("J").suggest(job_names()), "the job"},
       {"list", flag(), "print all sites, and the jobs of each"},
       {"nodes", number("N").otherwise_is("2"), "nodes of a multinode or compare job"},
       {"gpus-per-node", number("N").otherwise_is("all of the node"),
        "GPUs of each node; 0 runs on CPUs"},
       {"ranks-per-node", number("N").otherwise_is("one for each GPU; 2 without GPUs"),
        "ranks on each node"},
       {"time", text("HH:MM:SS").otherwise_is("the site's queue.time"), "walltime"},
       {"account", text("A").otherwise_is("a comment to fill in"), "account or project"},
       {"mail", text("ADDRESS"), "send mail to ADDRESS when the job starts, ends or fails"},
       {"launcher",
        text("L").otherwise_is("the site's").suggest({"srun", "mpirun", "pals", "ssh", "torchrun"}),
        "srun, mpirun, pals, ssh or torchrun"},
       {"task", text("NAME").otherwise_is("the trainer's"),
        "what the trainer trains; trainer --help lists the tasks"},
       {"program", text("P", Completes::program),
        "start this program, one word, instead of the trainer"},
       {"set", options::list("KEY=VALUE"),
        "change a key of the profile, such as queue.name=short; may be repeated"},
       {"site-file", text("F", Completes::file), "use the profile in this file, not --site"},
       {"output,o", options::output("F").otherwise_is("-"),
        "write the script to this file; -: to stdout"},
       {"check", flag(), "ask the scheduler whether it accepts the job and can ever start it"},
       {"submit", flag(), "submit the script, and print the job's id"}}};
}

options::Command script_command() {
  options::Command command{
      "hpcboot",
      "script",
      "print, check or submit the job script of a site",
      {"hpcboot script --site S --job J [OPTIONS]", "hpcboot script --list"},
      {{"hpcboot script --site cc --job ddp --account def-prof -o ddp.sh", "write it to a file"},
       {"hpcboot script --site cc --job multinode_srun --nodes 4 --submit", "submit it"},
       {"hpcboot script --site cc --job ddp --launcher srun --program python -o p.sh",
        "make a script for your own program (--program takes one word)"},
       {"sbatch p.sh train.py --epochs 5",
        "submit it; each rank runs: python train.py --epochs 5"}}};
  command.details = {
      "The site's profile supplies whatever no option sets; --set changes any of its keys. Sites "
      "of your own are files in ~/.config/hpcboot/sites, or given by --site-file."};
  command.groups = {script_options()};
  command.environment = {
      {"TRAINER_ARGS",
       "read by the script when it runs: more arguments, before those on its command "
       "line; with qsub: TRAINER_ARGS=\"--epochs 5\" qsub -v TRAINER_ARGS …"},
      {"DATA_DIR, RUNS_DIR", "data and runs of the trainer [data/mnist, or those of --task; runs]"},
      {"STAGE", "1: copy DATA_DIR to each node's own disk first"},
      {"RANKS_PER_NODE",
       "ranks on each node, at most as many as the job requested (in Slurm "
       "--ntasks-per-node)"},
      {"HOSTFILE", "the hosts, if there is no scheduler"},
      {"HPCBOOT_BIN_DIR", "folder with hpcboot and the trainer"},
      {"APPTAINER_BIND", "more folders to bind into the container"}};
  command.exit_codes = {{"0", "ok"},
                        {"1",
                         "--check: the scheduler would refuse it, or never start it; --submit: it "
                         "refused it, or did not report the job's id"},
                        {"2", "the command line is wrong"},
                        {"20 and up", "an error, by its kind"}};
  command.more = "jobscripts/README.md lists the keys of a profile";
  return command;
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : std::string();
}

std::optional<int> number_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  return values[name].as<int>();
}

// Returns the exit code: a profile that cannot be read is reported, and the others are still
// listed.
int print_list(const SiteLibrary& library) {
  int code = 0;
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  table.add_titles({"SITE", "SCHEDULER", "JOBS", "DESCRIPTION"});
  // For a terminal that is too narrow for the jobs.
  TextTable narrow({Align::left, Align::left, Align::left});
  narrow.add_titles({"SITE", "SCHEDULER", "DESCRIPTION: jobs"});
  for (const std::string& name : library.names()) {
    try {
      const SiteProfile site = library.read(name);
      std::string jobs;
      std::string wrapped_jobs;
      for (const Job& job : jobs_of(site)) {
        jobs += (jobs.empty() ? "" : ",") + job.name;
        wrapped_jobs += (wrapped_jobs.empty() ? ": " : ", ") + job.name;
      }
      const std::string scheduler = site.text("scheduler");
      table.add({name, scheduler, jobs, site.text("description")});
      narrow.add({name, scheduler, site.text("description") + wrapped_jobs});
    } catch (const Error& error) {
      print_error("hpcboot", error);
      code = error.exit_code();
    }
  }
  const Look look = look_of(STDOUT_FILENO);
  out() << (table.width() > look.width ? narrow : table).text(look);
  return code;
}

ScriptRequest request_of(const po::variables_map& values) {
  if (values.count("job") == 0)
    throw UsageError("--job is missing; hpcboot script --list prints the jobs");
  ScriptRequest request;
  request.job = values["job"].as<std::string>();
  request.nodes = number_of(values, "nodes");
  request.gpus_per_node = number_of(values, "gpus-per-node");
  request.ranks_per_node = number_of(values, "ranks-per-node");
  if (values.count("time") != 0) request.time = values["time"].as<std::string>();
  request.account = text_of(values, "account");
  request.mail = text_of(values, "mail");
  request.launcher = text_of(values, "launcher");
  request.program = text_of(values, "program");
  request.task = text_of(values, "task");
  if (values.count("task") != 0 && request.task.empty())
    throw UsageError("--task is empty; trainer --help lists the tasks");
  return request;
}

// The script's file name. For stdout: that of the shipped script if this is exactly that script,
// else a name for a file of the user.
std::string name_of_script(const std::string& output, const SiteLibrary& library,
                           const SiteProfile& site, const ScriptRequest& request) {
  if (!output.empty()) return output;
  const bool as_shipped =
      request.arguments == "script --site " + site.name() + " --job " + request.job &&
      library.has_as_shipped(site.name());
  return (as_shipped ? "jobscripts/" : "") + site.name() + "_" + request.job +
         (site.text("scheduler") == "kubernetes" ? ".yaml" : ".sh");
}

int script(const Call& call) {
  const SiteLibrary library(Env::from_process());
  if (call.values.count("list") != 0) return print_list(library);
  const SiteProfile site = site_as_asked(call.values, library);
  const std::string named = text_of(call.values, "output");
  const std::string output = named == "-" ? "" : named;
  ScriptRequest request = request_of(call.values);
  request.arguments = "script " + option_words(call.values, {script_options()},
                                               {"list", "output", "check", "submit"});
  request.script = name_of_script(output, library, site, request);
  request.programs = programs_for(output);
  const std::string text = render_job_script(TemplateRenderer(shipped_templates()), site, request);
  for (const std::string& note : notes_on(site, request)) err() << "note: " << note << "\n";
  if (!output.empty()) write_script(output, text);
  const bool submit = call.values.count("submit") != 0;
  if (submit || call.values.count("check") != 0) {
    // A temporary file: the scheduler takes a copy.
    const HeldSignals until_the_file_is_removed;
    std::optional<run::PrivateFile> file;
    if (output.empty()) file.emplace(text);
    const ScriptJob job{site, request, file ? file->path() : output};
    if (!submit) return check_script(job) == 0 ? 0 : 1;  // a check that failed
    return submit_script(job).exit_code;
  }
  if (output.empty()) out() << Encoded::as_is(text);
  return 0;
}

}  // namespace

const Verb kScript{script_command, script};

}  // namespace hpcboot::tool
