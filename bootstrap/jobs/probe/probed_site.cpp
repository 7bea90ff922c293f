#include "probed_site.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "jobs/profile_keys.hpp"

namespace hpcboot::jobscripts {
namespace {

constexpr int kUsualTime = 3600;

std::string clock(int seconds) {
  const auto two = [](int number) {
    const std::string text = std::to_string(number);
    return text.size() < 2 ? "0" + text : text;
  };
  return two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":" + two(seconds % 60);
}

// A TOML value. A scheduler may print anything: text that is not valid in a profile is dropped.
std::string value(const char* key, const std::string& text) {
  return problem_of(*find_key(key), text) || text.find_first_of("\"\\") != std::string::npos
             ? "\"\""
             : "\"" + text + "\"";
}

std::string comment(const std::string& text) {
  std::string line = text;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return "# " + line + "\n";
}

std::string line_about(const ProbedNodes& nodes) {
  std::string line = nodes.queue.empty() ? "" : nodes.queue + ": ";
  line += counted(nodes.count, "node") + " with " + std::to_string(nodes.cores) + " cores";
  if (nodes.memory_gb > 0) line += ", " + std::to_string(nodes.memory_gb) + " GiB";
  if (nodes.gpus > 0)
    line += ", " + std::to_string(nodes.gpus) + " GPUs" +
            (nodes.gpu_type.empty() ? "" : " (" + nodes.gpu_type + ")");
  if (nodes.limit_seconds) line += ", at most " + clock(*nodes.limit_seconds);
  return line + (nodes.is_default && !nodes.queue.empty() ? "; the default" : "");
}

}  // namespace

void add_alike(std::vector<ProbedNodes>& all, const ProbedNodes& one) {
  const auto kind = [](const ProbedNodes& nodes) {
    return std::tie(nodes.queue, nodes.cores, nodes.gpus, nodes.memory_gb);
  };
  const auto same = std::find_if(
      all.begin(), all.end(), [&](const ProbedNodes& other) { return kind(other) == kind(one); });
  if (same == all.end()) {
    all.push_back(one);
  } else {
    same->count += one.count;
  }
}

const ProbedNodes& chosen_nodes(const std::vector<ProbedNodes>& nodes) {
  return *std::max_element(nodes.begin(), nodes.end(),
                           [](const ProbedNodes& a, const ProbedNodes& b) {
                             return std::make_tuple(a.gpus > 0, a.is_default, a.count) <
                                    std::make_tuple(b.gpus > 0, b.is_default, b.count);
                           });
}

std::string profile_of(const ProbedSite& site) {
  if (site.nodes.empty()) {
    throw Error(ErrorCode::backend_unavailable,
                "the scheduler " + site.scheduler + " answers but lists no hosts",
                "hosts, from " + site.asked,
                "run this on a login node, or write the profile by hand");
  }
  const ProbedNodes& nodes = chosen_nodes(site.nodes);
  std::string text =
      "# Written by `hpcboot site probe`, from the answers of the scheduler (" + site.asked +
      ").\n# Check it, and correct what is wrong: jobscripts/README.md describes all keys.\n";
  for (const std::string& note : site.notes) text += comment(note + ".");
  const std::string name = site.cluster.empty() ? "this cluster" : site.cluster;
  text += "description = " + value("description", name) + "\n";
  text += "documentation = " + value("documentation", site.documentation) + "\n";
  text += "scheduler = \"" + site.scheduler + "\"\nlauncher = \"" + site.launcher + "\"\n\n";
  text += "[build]\nmodules = [] # the modules that hpcboot was built with\n\n";
  for (const ProbedNodes& kind : site.nodes) text += comment(line_about(kind));
  text += "[node]\ngpus = " + std::to_string(nodes.gpus) + "\n";
  if (!nodes.gpu_type.empty())
    text += "gpu_type = " + value("node.gpu_type", nodes.gpu_type) + "\n";
  text += "cores = " + std::to_string(nodes.cores) + "\n";
  if (nodes.memory_gb > 0) text += "memory_gb = " + std::to_string(nodes.memory_gb) + "\n";
  text += "\n[queue]\n";
  if (!nodes.is_default && !nodes.queue.empty())
    text += "name = " + value("queue.name", nodes.queue) + "\n";
  text +=
      "time = \"" + clock(std::min(kUsualTime, nodes.limit_seconds.value_or(kUsualTime))) + "\"\n";
  if (!site.parallel_environment.empty())
    text +=
        "parallel_environment = " + value("queue.parallel_environment", site.parallel_environment) +
        "\n";
  if (!site.parallel_environment_of_one_host.empty())
    text += "parallel_environment_of_one_host = " +
            value("queue.parallel_environment_of_one_host", site.parallel_environment_of_one_host) +
            "\n";
  text += std::string("requeue = ") + (site.requeue ? "true" : "false") + "\n\n[account]\n";
  if (!site.account.empty()) text += "example = " + value("account.example", site.account) + "\n";
  text += "mail_example = \"you@example.org\"\n\n[storage]\nscratch = \"${SCRATCH:-$HOME}\"\n";
  return text;
}

std::string probe(const Ask& ask, const std::string& scheduler) {
  static const std::vector<std::pair<std::string, std::optional<ProbedSite> (*)(const Ask&)>>
      kProbes = {{"slurm", probe_slurm},
                 {"pbs", probe_pbs},
                 {"torque", probe_pbs},
                 {"sge", probe_grid_engine},
                 {"lsf", probe_lsf}};
  bool is_known = scheduler.empty();
  for (const auto& [name, of_scheduler] : kProbes) {
    is_known = is_known || name == scheduler;
    if (!scheduler.empty() && name != scheduler) continue;
    if (const auto site = of_scheduler(ask)) return profile_of(*site);
  }
  if (!is_known) {
    throw Error(ErrorCode::malformed_value, "the scheduler " + scheduler + " cannot be probed",
                "slurm, pbs, torque, sge or lsf", "correct --scheduler");
  }
  throw Error(
      ErrorCode::backend_unavailable,
      scheduler.empty() ? "no scheduler answers: tried sinfo, pbsnodes, qconf and lshosts"
                        : scheduler + " does not answer",
      "the commands of Slurm, PBS, Torque, Grid Engine or LSF in PATH, and their server reachable",
      "run this on a login node of the cluster; without a scheduler, start the program with "
      "hpcboot run --hostfile FILE");
}

}  // namespace hpcboot::jobscripts
