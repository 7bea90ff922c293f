#include "hpcboot/error.hpp"
#include "jobs/job.hpp"
#include "jobs/job_script.hpp"
#include "jobs/run/launcher/private_file.hpp"
#include "jobs/site_library.hpp"
#include "options.hpp"
#include "script_submission.hpp"
#include "script_words.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;
using namespace hpcboot::jobscripts;

constexpr const char* kSynopsis =
    "Usage: hpcboot script --site S --job J [OPTIONS]\n"
    "       hpcboot script --list\n\n"
    "Prints the job script of a site, ready to submit. The site's profile says what is left open;\n"
    "--set changes any of its keys (jobscripts/README.md). Sites of your own are files in\n"
    "~/.config/hpcboot/sites, or given by --site-file.\n\n"
    "  hpcboot script --site cc --job ddp --account def-prof -o ddp.sh\n"
    "  hpcboot script --site cc --job multinode_srun --nodes 4 --time 12:00:00 --submit\n"
    "  hpcboot script --site cc --job ddp --launcher torchrun --program train.py\n\n"
    "A program of your own is one word; its arguments come behind the script:\n\n"
    "  hpcboot script --site cc --job ddp --launcher srun --program python -o p.sh\n"
    "  sbatch p.sh train.py --epochs 5      # on each rank: python train.py --epochs 5\n\n"
    "Variables that a script reads when it runs:\n\n"
    "  TRAINER_ARGS=\"--epochs 5\"  more arguments of the trainer or program, before those behind\n"
    "                             the script; with qsub: TRAINER_ARGS=… qsub -v TRAINER_ARGS …\n"
    "  DATA_DIR, RUNS_DIR         the trainer's data and runs [data/mnist, runs]\n"
    "  STAGE=1                    copy DATA_DIR to each node's own disk first\n"
    "  RANKS_PER_NODE             ranks on each node, at most what was asked for (of Slurm:\n"
    "                             --ntasks-per-node)\n"
    "  HOSTFILE                   the machines, without a scheduler\n"
    "  HPCBOOT_BIN_DIR            where hpcboot and the trainer are\n"
    "  APPTAINER_BIND             more folders that a container sees\n";

po::options_description script_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  const auto number = [] { return po::value<int>()->value_name("N"); };
  options.add_options()("site", text("S"), "the site")("job", text("J"), "the job")(
      "list", "print all sites and the jobs of each")("nodes", number(),
                                                      "nodes of a multinode job [2]")(
      "gpus-per-node", number(), "0: on CPU [all of the node]")("ranks-per-node", number(),
                                                                "[one for each GPU; 2 without]")(
      "time", text("HH:MM:SS"), "walltime [the site's queue.time]")(
      "account", text("A"), "account or project [as a comment to fill in]")(
      "mail", text("ADDRESS"), "where the scheduler writes when the job begins, ends or fails")(
      "launcher", text("L"), "srun, mpirun, pals, ssh or torchrun [the site's]")(
      "program", text("P"), "start this program, one word, in place of the trainer")(
      "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
      "change a key of the profile, such as queue.name=short; may be repeated")(
      "site-file", text("F"), "a profile that lies elsewhere, in place of --site")(
      "output,o", text("F"), "write the script to this file; -: to stdout [-]")(
      "check", "ask the scheduler whether it would take the job, and ever start it")(
      "submit", "submit it, and print the job's id");
  return options;
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : std::string();
}

std::optional<int> number_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  return values[name].as<int>();
}

// The exit code: a profile that cannot be read is told, and the others are listed all the same.
int print_list(const SiteLibrary& library) {
  int code = 0;
  out() << encoded_format("{:<16}{:<12}{:<74}{}\n", "SITE", "SCHEDULER", "JOBS", "DESCRIPTION");
  for (const std::string& name : library.names()) {
    try {
      const SiteProfile site = library.read(name);
      std::string jobs;
      for (const Job& job : jobs_of(site)) jobs += (jobs.empty() ? "" : ",") + job.name;
      out() << encoded_format("{:<16}{:<12}{:<74}{}\n", name, site.text("scheduler"), jobs,
                              site.text("description"));
    } catch (const Error& error) {
      print_error("hpcboot", error);
      code = error.exit_code();
    }
  }
  return code;
}

ScriptRequest request_of(const po::variables_map& values) {
  if (values.count("job") == 0) throw UsageError("script takes --job; --list prints the jobs");
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
  return request;
}

// The file that the script will be: where it goes to stdout, the one of the same name that hpcboot
// comes with if it is that very one, else a name for the user's.
std::string name_of_script(const std::string& output, const SiteLibrary& library,
                           const SiteProfile& site, const ScriptRequest& request) {
  if (!output.empty()) return output;
  const bool as_shipped =
      request.arguments == "script --site " + site.name() + " --job " + request.job &&
      library.has_as_shipped(site.name());
  return (as_shipped ? "jobscripts/" : "") + site.name() + "_" + request.job +
         (site.text("scheduler") == "kubernetes" ? ".yaml" : ".sh");
}

int script(const Arguments& arguments) {
  const auto values = parse(arguments, kSynopsis, script_options());
  if (!values) return 0;
  const SiteLibrary library(Env::from_process());
  if (values->count("list") != 0) return print_list(library);
  const SiteProfile site = site_as_asked(*values, library);
  const std::string named = text_of(*values, "output");
  const std::string output = named == "-" ? "" : named;
  ScriptRequest request = request_of(*values);
  request.arguments =
      "script " + option_words(*values, script_options(), {"list", "output", "check", "submit"});
  request.script = name_of_script(output, library, site, request);
  request.programs = programs_for(output);
  const std::string text = render_job_script(TemplateRenderer(shipped_templates()), site, request);
  for (const std::string& note : notes_on(site, request)) err() << "note: " << note << "\n";
  if (!output.empty()) write_script(output, text);
  const bool submit = values->count("submit") != 0;
  if (submit || values->count("check") != 0) {
    // One that is not kept: the scheduler takes a copy.
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

const Verb kScript{"script", "print, check or submit the job script of a site", script};

}  // namespace hpcboot::tool
