#include "job_script.hpp"

#include <algorithm>

#include "core/counted.hpp"
#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/redact.hpp"
#include "job.hpp"
#include "job_shape.hpp"
#include "run_line.hpp"
#include "walltime.hpp"

namespace hpcboot::jobscripts {
namespace {

void check_value(const char* option, KeyType type, const std::string& value) {
  const ProfileKey key{option, type, ""};
  if (const auto problem = problem_of(key, value))
    throw Error(ErrorCode::malformed_value, std::string(option) + " '" + value + "' " + *problem,
                description_of(key), std::string("correct ") + option);
}

void check_program(const Job& job, const std::string& program) {
  const std::size_t blank = program.find_first_of(" \t\n\v\f\r");
  if (blank != std::string::npos) {
    const std::string first = program.substr(0, blank);
    throw Error(ErrorCode::malformed_value, "--program '" + program + "'",
                "one word: the program's name or path",
                "write --program " + (first.empty() ? "P" : first) +
                    ", and give its arguments after the script (sbatch p.sh train.py), or in "
                    "TRAINER_ARGS");
  }
  if (!program.empty() && job.name == "compare") {
    throw Error(ErrorCode::malformed_value, "the job compare with --program " + program,
                "the trainer: compare runs each of its methods and reads its run records",
                "choose another job, or omit --program");
  }
}

// A user program does not know the signal, and these two schedulers send none.
bool warns(const std::string& scheduler, const ScriptRequest& request) {
  return request.program.empty() && request.command.empty() && scheduler != "none" &&
         scheduler != "kubernetes";
}

// Every value of the profile: node.gpus becomes node_gpus in a template.
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

// @param seen the folders visible in the container besides HOME and /tmp, as bash words
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
  return (folder.empty() ? "" : "module use " + bash_quote(folder) + " && ") + "module load " +
         joined(modules, " ");
}

std::string export_words(const SiteProfile& site) {
  std::string words;
  for (const auto& [name, key] : {std::pair{"HPCBOOT_INTERFACE", "network.interface"},
                                  std::pair{"HPCBOOT_HOST_SUFFIX", "network.host_suffix"},
                                  std::pair{"HPCBOOT_DEVICE_ORDER", "network.device_order"}}) {
    if (!site.text(key).empty())
      words += std::string(" ") + name + "=" + bash_quote(site.text(key));
  }
  const std::string& local = site.text("storage.local");
  return words +
         (local.empty() ? "" : " HPCBOOT_STAGE_DIR=\"${HPCBOOT_STAGE_DIR:-" + local + "}\"");
}

// Before a command: in its environment, and not in its words, which all users of a host can read.
std::string assignments_of(const ScriptRequest& request) {
  std::string words;
  for (const auto& [name, value] : request.variables) words += name + "=" + bash_quote(value) + " ";
  return words;
}

// As bash words.
std::string job_id_of(const std::string& scheduler) {
  if (scheduler == "slurm") return "${SLURM_JOB_ID:-$$}";
  if (scheduler == "pbs" || scheduler == "torque") return "${PBS_JOBID:-$$}";
  if (scheduler == "sge") return "${JOB_ID:-$$}";
  return scheduler == "lsf" ? "${LSB_JOBID:-$$}" : "$(date +%Y%m%d-%H%M%S)";
}

// The commands after the directives: where the programs are, and how `hpcboot run` starts them.
void add_commands(TemplateValues& values, const SiteProfile& site, const Job& job,
                  const ScriptRequest& request, const JobShape& shape) {
  const RunLines lines =
      run_lines(site, job, request,
                {shape.ranks_per_node, shape.cores / shape.ranks_per_node, shape.gpus > 0});
  values["run_options"] = lines.options;
  values["more_options"] = request.run_options;
  values["assignments"] = assignments_of(request);
  values["attempts"] = lines.attempts;
  values["mode"] = lines.mode;
  values["job_id"] = job_id_of(site.text("scheduler"));
  const bool requeues = site.truth("queue.requeue") && job.name != "compare";
  const std::string warn = " --warn " + std::to_string(kWarningSeconds);
  values["before_the_end"] = !warns(site.text("scheduler"), request) ? ""
                             : requeues                              ? " --requeue"
                                                                     : warn;
  values["container_here"] = container_words(site, "$here", shape.gpus > 0);
  values["container_with_data"] = container_words(site, "$seen", shape.gpus > 0);
  values["modules"] = module_words(site);
  values["exports"] = export_words(site);
  const bool is_checkout = request.programs.empty();
  values["from_checkout"] = is_checkout;
  values["hpcboot_folder"] = is_checkout ? "build/bin" : bash_quote(request.programs);
  values["remedy"] = std::string(
      is_checkout
          ? "submit from hpcboot's folder after building it: bash jobscripts/build " + site.name()
          : "set HPCBOOT_BIN_DIR");
}

// Values that the manifest needs. Without them the cluster would reject it, or misplace the job.
void check_kubernetes(const SiteProfile& site) {
  if (site.text("scheduler") != "kubernetes") return;
  std::vector<std::string> keys = {"kubernetes.image", "kubernetes.namespace",
                                   "kubernetes.data_claim", "kubernetes.output_claim"};
  if (site.number("kubernetes.rdma_devices") > 0) keys.emplace_back("kubernetes.rdma_resource");
  for (const std::string& key : keys) {
    if (!site.text(key).empty()) continue;
    throw Error(ErrorCode::malformed_value, key + " of the site " + site.name() + " is empty",
                description_of(*find_key(key)) + ": " + find_key(key)->meaning,
                "set it with --set " + key + "=VALUE, or in the site's profile");
  }
}

}  // namespace

std::vector<std::string> notes_on(const SiteProfile& site, const ScriptRequest& request) {
  const Job job = job_of(site, request.job);
  const std::string& scheduler = site.text("scheduler");
  std::vector<std::string> notes;
  const auto without_effect = [&](const char* option, bool given, const std::string& why) {
    if (given) notes.push_back(std::string(option) + " has no effect: " + why);
  };
  const std::string asks = "a script for the scheduler " + scheduler + " does not request it";
  const bool bare = scheduler == "none";
  without_effect("--time", bare && request.time, asks);
  without_effect("--account", (bare || scheduler == "kubernetes") && !request.account.empty(),
                 asks);
  without_effect("--mail", (bare || scheduler == "kubernetes") && !request.mail.empty(), asks);
  const std::string one = "the job " + job.name + " runs one process";
  without_effect("--ranks-per-node", job.one_rank && request.ranks_per_node.value_or(1) != 1, one);
  const bool has_operator = scheduler == "kubernetes";
  without_effect("--launcher", !request.launcher.empty() && (job.one_rank || has_operator),
                 has_operator ? "the operator starts torchrun" : one);
  without_effect("--task", !request.task.empty() && !request.program.empty(),
                 "the script starts " + request.program + ", not the trainer");
  without_effect("queue.whole_nodes",
                 !bare && scheduler != "pbs" && site.truth("queue.whole_nodes"),
                 asks + "; queue.options can have the option for whole nodes");
  without_effect(
      "node.gpu_type",
      !bare && scheduler != "slurm" && scheduler != "sge" && !site.text("node.gpu_type").empty(),
      asks + "; queue.options can have the site's option");
  const std::string time = request.time.value_or(site.text("queue.time"));
  if (warns(scheduler, request) && walltime_of(time) <= kWarningSeconds) {
    notes.push_back("the walltime " + time + " is not longer than the " +
                    std::to_string(kWarningSeconds) +
                    " seconds of the warning before its end: there will be no warning, and unsaved "
                    "work is lost");
  }
  return notes;
}

std::string render_job_script(const TemplateRenderer& templates, const SiteProfile& site,
                              const ScriptRequest& request) {
  const Job job = job_of(site, request.job);
  check_value("--account", KeyType::word, request.account);
  check_value("--mail", KeyType::word, request.mail);
  // These values appear in comments, which a newline would end.
  check_value("--output", KeyType::text, request.script);
  check_value("--name", KeyType::word, request.name);
  check_value("--task", KeyType::word, request.task);
  check_program(job, request.program);
  check_kubernetes(site);
  const JobShape shape = shape_of(site, request);
  const std::string time = request.time.value_or(site.text("queue.time"));
  const int seconds = walltime_of(time);
  const std::string& scheduler = site.text("scheduler");

  TemplateValues values;
  add_profile(values, site);
  add_commands(values, site, job, request, shape);
  values["site"] = site.name();
  values["task"] = request.task;
  const auto set_if_empty = [&](const char* name, const char* text) {
    if (values[name] == TemplateValue(std::string())) values[name] = std::string(text);
  };
  set_if_empty("kubernetes_data", "/data");
  set_if_empty("kubernetes_accelerator_label", "nvidia.com/gpu.product");
  values["job_name"] = request.name.empty() ? "hpcboot_" + job.name : request.name;
  values["summary"] = request.command.empty()
                          ? job.summary
                          : request.name + " on " + counted(shape.nodes, "node") + " with " +
                                counted(shape.ranks_per_node, "rank") +
                                (shape.nodes == 1 ? "" : " each");
  for (const Job& other : jobs_of(site)) values["job_" + other.name] = other.name == job.name;
  for (const char* name : {"job_multinode_srun", "job_array"}) values.emplace(name, false);
  values["job_multinode"] = job.name.rfind("multinode_", 0) == 0;
  values["one_node"] = job.one_node;
  values["nodes"] = shape.nodes;
  values["workers"] = shape.nodes - 1;
  values["gpus"] = shape.gpus;
  values["ranks_per_node"] = shape.ranks_per_node;
  values["ranks"] = shape.ranks_per_node * shape.nodes;
  values["cores"] = shape.cores;
  values["cores_per_rank"] = shape.cores / shape.ranks_per_node;
  values["memory_gb"] = shape.memory_gb;
  values["slots"] = shape.slots() * shape.nodes;
  values["gpu_resource"] = site.text("node.gpu_type").empty() ? "gpu" : site.text("node.gpu_type");
  // Torque ignores the mem of a job on several nodes.
  values["several_nodes"] = shape.nodes > 1;
  values["memory_mb_per_core"] = shape.memory_gb * 1024 / shape.cores;
  values["memory_mb_per_slot"] = shape.memory_gb * 1024 / shape.slots();
  values["parallel_environment"] =
      shape.slots() * shape.nodes == 1
          ? std::string()
          : site.text(job.one_node ? "queue.parallel_environment_of_one_host"
                                   : "queue.parallel_environment");
  values["time"] = time;
  values["seconds"] = seconds;
  const std::string whole_minutes = time_of((seconds + 59) / 60 * 60);
  values["hours_minutes"] = whole_minutes.substr(0, whole_minutes.rfind(':'));
  values["account"] = request.account;
  values["mail"] = request.mail;
  std::vector<std::string> words = request.command;
  if (words.empty() && !request.program.empty()) words = {request.program};
  values["program"] = words.empty() ? std::string() : words.front();
  for (std::string& word : words) word = bash_quote(word);
  values["program_words"] = joined(words, " ");
  values["has_command"] = !request.command.empty();
  values["script"] = bash_quote(request.script);
  values["arguments"] = terminal_text(redact_value(request.arguments)).str();
  return templates.render(scheduler == "none" ? "plain" : scheduler, values,
                          scheduler == "kubernetes" ? Quoting::yaml : Quoting::shell);
}

}  // namespace hpcboot::jobscripts
