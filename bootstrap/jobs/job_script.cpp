#include "job_script.hpp"

#include <algorithm>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "job.hpp"
#include "run_line.hpp"
#include "walltime.hpp"

namespace hpcboot::jobscripts {
namespace {

// Ranks of a node without GPUs: one for each socket of the usual two.
constexpr int kRanksWithoutGpus = 2;

Error wrong(const std::string& found, const std::string& expected, const std::string& remedy) {
  return {ErrorCode::malformed_value, found, expected, remedy};
}

// What a job takes of each node.
struct Share {
  int nodes = 1;
  int gpus = 0;
  int ranks = 1;
  int cores = 1;
  int memory_gb = 0;

  // Of Grid Engine, whose requests count for each slot: one for each GPU, else for each core.
  int slots() const { return gpus > 0 ? gpus : cores; }
};

Share share_of(const SiteProfile& site, const Job& job, const ScriptRequest& request) {
  Share share;
  const int all_gpus = site.number("node.gpus");
  const int most_gpus = job.all_devices ? all_gpus : std::min(all_gpus, 1);
  share.nodes = request.nodes.value_or(job.one_node ? 1 : 2);
  if (share.nodes < 1 || (job.one_node && share.nodes != 1)) {
    throw wrong("--nodes " + std::to_string(share.nodes) + " for the job " + job.name,
                job.one_node ? "1: it is a job of one node" : "1 or more",
                job.one_node ? "leave --nodes out, or take a multinode job" : "correct --nodes");
  }
  share.gpus = request.gpus_per_node.value_or(most_gpus);
  if (share.gpus < 0 || share.gpus > most_gpus) {
    throw wrong("--gpus-per-node " + std::to_string(share.gpus) + " for the job " + job.name,
                "0 to " + std::to_string(most_gpus),
                "correct it, or node.gpus of the site, which is " + std::to_string(all_gpus));
  }
  const int usual = share.gpus > 0 ? share.gpus : kRanksWithoutGpus;
  share.ranks = job.one_rank ? 1 : request.ranks_per_node.value_or(usual);
  if (share.ranks < 1 || share.ranks > site.number("node.cores")) {
    throw wrong("--ranks-per-node " + std::to_string(share.ranks),
                "1 to the node's " + std::to_string(site.number("node.cores")) + " cores",
                "correct it, or node.cores of the site");
  }
  if (site.text("scheduler") == "sge" && share.gpus > 0 && share.ranks > share.gpus) {
    throw wrong("--ranks-per-node " + std::to_string(share.ranks) + " on " +
                    std::to_string(share.gpus) + " GPUs, under Grid Engine",
                "a rank for each GPU at most: a slot there is a GPU",
                "lower --ranks-per-node, or give --gpus-per-node 0");
  }
  // GPUs bring their part of the cores and of the memory; without GPUs ranks do.
  const int parts = share.gpus > 0 ? all_gpus : std::max(kRanksWithoutGpus, share.ranks);
  const int taken = share.gpus > 0 ? share.gpus : job.all_devices ? parts : share.ranks;
  const int cores_per_rank = std::max(1, site.number("node.cores") * taken / parts / share.ranks);
  share.cores = cores_per_rank * share.ranks;
  share.memory_gb = site.number("node.memory_gb") * taken / parts;
  return share;
}

void check_value(const char* option, KeyType type, const std::string& value) {
  const ProfileKey key{option, type, ""};
  if (const auto problem = problem_of(key, value))
    throw wrong(std::string(option) + " '" + value + "' " + *problem, description_of(key),
                std::string("correct ") + option);
}

void check_program(const Job& job, const std::string& program) {
  const std::size_t blank = program.find_first_of(" \t\n\v\f\r");
  if (blank != std::string::npos) {
    const std::string first = program.substr(0, blank);
    throw wrong("--program '" + program + "'", "one word: the program's name or path",
                "write --program " + (first.empty() ? "P" : first) +
                    ", and give its arguments behind the script (sbatch p.sh train.py), or as "
                    "TRAINER_ARGS");
  }
  if (!program.empty() && job.name == "compare") {
    throw wrong(
        "the job compare with --program " + program,
        "the trainer: compare starts each of its methods, and reads the records of its runs",
        "take another job, or leave --program out");
  }
}

// A program of one's own knows nothing of the signal, and these two send none.
bool warns(const std::string& scheduler, const ScriptRequest& request) {
  return request.program.empty() && scheduler != "none" && scheduler != "kubernetes";
}

// Every value of the profile: node.gpus is node_gpus in a template.
void add_profile(TemplateValues& values, const SiteProfile& site) {
  for (const ProfileKey& key : profile_keys()) {
    std::string name = key.name;
    std::replace(name.begin(), name.end(), '.', '_');
    if (is_list(key.type)) {
      values[name] = site.list(key.name);
      values["has_" + name] = !site.list(key.name).empty();
    } else if (key.type == KeyType::number) {
      values[name] = site.number(key.name);
    } else if (key.type == KeyType::truth) {
      values[name] = site.truth(key.name);
    } else {
      values[name] = site.text(key.name);
    }
  }
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

// @param seen the folders that the image sees beside HOME and /tmp, in bash's words
std::string container_words(const SiteProfile& site, const char* seen, bool has_gpus) {
  const std::string& image = site.text("container.image");
  if (image.empty()) return "";
  return std::string("apptainer exec") + (has_gpus ? " --nv" : "") + " --bind \"" + seen + "\" \"" +
         image + "\" ";
}

std::string module_words(const SiteProfile& site) {
  const std::vector<std::string>& modules = site.list("build.modules");
  if (modules.empty()) return "";
  const std::string& folder = site.text("build.module_folder");
  return (folder.empty() ? "" : "module use " + shell_quote(folder) + " && ") + "module load " +
         joined(modules, " ");
}

std::string export_words(const SiteProfile& site) {
  std::string words;
  for (const auto& [name, key] : {std::pair{"HPCBOOT_INTERFACE", "network.interface"},
                                  std::pair{"HPCBOOT_HOST_SUFFIX", "network.host_suffix"},
                                  std::pair{"HPCBOOT_DEVICE_ORDER", "network.device_order"}}) {
    if (!site.text(key).empty())
      words += std::string(" ") + name + "=" + shell_quote(site.text(key));
  }
  const std::string& local = site.text("storage.local");
  return words +
         (local.empty() ? "" : " HPCBOOT_STAGE_DIR=\"${HPCBOOT_STAGE_DIR:-" + local + "}\"");
}

// In bash's words.
std::string job_id_of(const std::string& scheduler) {
  if (scheduler == "slurm") return "${SLURM_JOB_ID:-$$}";
  if (scheduler == "pbs" || scheduler == "torque") return "${PBS_JOBID:-$$}";
  if (scheduler == "sge") return "${JOB_ID:-$$}";
  return scheduler == "lsf" ? "${LSB_JOBID:-$$}" : "$(date +%Y%m%d-%H%M%S)";
}

// What stands behind the directives: the folder's programs, and how `hpcboot run` starts them.
void add_commands(TemplateValues& values, const SiteProfile& site, const Job& job,
                  const ScriptRequest& request, const Share& share) {
  const RunLines lines =
      run_lines(site, job, request, {share.ranks, share.cores / share.ranks, share.gpus > 0});
  values["run_options"] = lines.options;
  values["attempts"] = lines.attempts;
  values["mode"] = lines.mode;
  values["job_id"] = job_id_of(site.text("scheduler"));
  const bool requeues = site.truth("queue.requeue") && job.name != "compare";
  const std::string warn = " --warn " + std::to_string(kWarningSeconds);
  values["before_the_end"] = !warns(site.text("scheduler"), request) ? ""
                             : requeues                              ? " --requeue"
                                                                     : warn;
  values["container_here"] = container_words(site, "$here", share.gpus > 0);
  values["container_with_data"] = container_words(site, "$seen", share.gpus > 0);
  values["modules"] = module_words(site);
  values["exports"] = export_words(site);
  const bool is_checkout = request.programs.empty();
  values["from_checkout"] = is_checkout;
  values["hpcboot_folder"] = is_checkout ? "build/bin" : shell_quote(request.programs);
  values["remedy"] = std::string(
      is_checkout
          ? "submit from hpcboot's folder, once it is built: bash jobscripts/build " + site.name()
          : "set HPCBOOT_BIN_DIR");
}

}  // namespace

std::vector<std::string> notes_on(const SiteProfile& site, const ScriptRequest& request) {
  const Job job = job_of(site, request.job);
  const std::string& scheduler = site.text("scheduler");
  std::vector<std::string> notes;
  const auto without_effect = [&](const char* option, bool given, const std::string& why) {
    if (given) notes.push_back(std::string(option) + " has no effect: " + why);
  };
  const std::string asks = "a script for the scheduler " + scheduler + " does not ask for it";
  const bool bare = scheduler == "none";
  without_effect("--time", bare && request.time, asks);
  without_effect("--account", (bare || scheduler == "kubernetes") && !request.account.empty(),
                 asks);
  without_effect("--mail", (bare || scheduler == "kubernetes") && !request.mail.empty(), asks);
  const std::string one = "the job " + job.name + " is one process";
  without_effect("--ranks-per-node", job.one_rank && request.ranks_per_node.value_or(1) != 1, one);
  const bool has_operator = scheduler == "kubernetes";
  without_effect("--launcher", !request.launcher.empty() && (job.one_rank || has_operator),
                 has_operator ? "the operator starts torchrun" : one);
  const std::string time = request.time.value_or(site.text("queue.time"));
  if (warns(scheduler, request) && walltime_of(time) <= kWarningSeconds) {
    notes.push_back("the walltime " + time + " is not longer than the " +
                    std::to_string(kWarningSeconds) +
                    " seconds that a warning before its end takes: there will be none, and what is "
                    "not saved by then is lost");
  }
  return notes;
}

std::string render_job_script(const TemplateRenderer& templates, const SiteProfile& site,
                              const ScriptRequest& request) {
  const Job job = job_of(site, request.job);
  check_value("--account", KeyType::word, request.account);
  check_value("--mail", KeyType::word, request.mail);
  // Both stand in comments, which a new line would end.
  check_value("--output", KeyType::text, request.script);
  check_value("hpcboot script", KeyType::text, request.arguments);
  check_program(job, request.program);
  const Share share = share_of(site, job, request);
  const std::string time = request.time.value_or(site.text("queue.time"));
  const int seconds = walltime_of(time);
  const std::string& scheduler = site.text("scheduler");

  TemplateValues values;
  add_profile(values, site);
  add_commands(values, site, job, request, share);
  values["site"] = site.name();
  values["job"] = job.name;
  values["summary"] = job.summary;
  for (const Job& other : jobs_of(site)) values["job_" + other.name] = other.name == job.name;
  for (const char* name : {"job_multinode_srun", "job_array"}) values.emplace(name, false);
  values["job_multinode"] = job.name.rfind("multinode_", 0) == 0;
  values["one_node"] = job.one_node;
  values["nodes"] = share.nodes;
  values["workers"] = share.nodes - 1;
  values["gpus"] = share.gpus;
  values["ranks_per_node"] = share.ranks;
  values["ranks"] = share.ranks * share.nodes;
  values["cores"] = share.cores;
  values["cores_per_rank"] = share.cores / share.ranks;
  values["memory_gb"] = share.memory_gb;
  values["slots"] = share.slots() * share.nodes;
  values["gpu_resource"] = site.text("node.gpu_type").empty() ? "gpu" : site.text("node.gpu_type");
  values["memory_mb_per_slot"] = share.memory_gb * 1024 / share.slots();
  values["parallel_environment"] =
      share.slots() * share.nodes == 1
          ? std::string()
          : site.text(job.one_node ? "queue.parallel_environment_of_one_host"
                                   : "queue.parallel_environment");
  values["time"] = time;
  values["seconds"] = seconds;
  values["hours_minutes"] = time.substr(0, time.rfind(':'));
  values["account"] = request.account;
  values["mail"] = request.mail;
  values["program"] = request.program;
  values["script"] = shell_quote(request.script);
  values["arguments"] = request.arguments;
  return templates.render(scheduler == "none" ? "plain" : scheduler, values,
                          scheduler == "kubernetes" ? Quoting::yaml : Quoting::shell);
}

}  // namespace hpcboot::jobscripts
