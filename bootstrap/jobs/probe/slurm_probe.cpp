#include "probe_text.hpp"
#include "probed_site.hpp"

namespace hpcboot::jobscripts {
namespace {

// "gpu:h100:4(S:0-1),nvme:1"; "gpu:2"; "(null)". The first of several types counts.
void take_gres(ProbedNodes& nodes, const std::string& text) {
  for (const std::string& one : split(text, ',')) {
    const auto parts = split(one.substr(0, one.find('(')), ':');
    if (parts.front() != "gpu" || parts.size() < 2 || nodes.gpus > 0) continue;
    nodes.gpus = leading_number(parts.back());
    if (parts.size() > 2) nodes.gpu_type = parts[1];
  }
}

}  // namespace

// sinfo(1), scontrol(1). Tested with 22.05.
std::optional<ProbedSite> probe_slurm(const Ask& ask) {
  const auto lines = ask({"sinfo", "--exact", "--noheader", "--format=%P|%D|%c|%m|%G|%l|%L|%a"});
  if (!lines || trimmed(*lines).empty()) return std::nullopt;
  ProbedSite site;
  site.scheduler = "slurm";
  site.launcher = "srun";
  site.documentation = "https://slurm.schedmd.com/sbatch.html";
  site.asked = "sinfo, scontrol show config";
  for (const std::string& line : split(*lines, '\n')) {
    const auto columns = split(line, '|');
    if (columns.size() != 8 || columns[7] != "up") continue;
    ProbedNodes nodes;
    nodes.queue = columns[0];
    if (!nodes.queue.empty() && nodes.queue.back() == '*') {
      nodes.is_default = true;
      nodes.queue.pop_back();
    }
    nodes.count = leading_number(columns[1]);
    nodes.cores = leading_number(columns[2]);
    nodes.memory_gb = gibibytes(columns[3], 'm');
    take_gres(nodes, columns[4]);
    nodes.limit_seconds = seconds_of(columns[5]);
    site.nodes.push_back(std::move(nodes));
  }
  const std::string config = ask({"scontrol", "show", "config"}).value_or("");
  site.cluster = value_of(config, "ClusterName");
  site.requeue = value_of(config, "JobRequeue") != "0";
  // "account|"; nothing from a Slurm without a database.
  const auto accounts =
      ask({"sh", "-c", "sacctmgr -nP show user \"$(id -un)\" format=defaultaccount"});
  if (accounts) site.account = split(*accounts, '\n').front();
  site.notes.emplace_back(
      "Slurm may count hardware threads as CPUs: if `scontrol show node` reports "
      "ThreadsPerCore=2, only half of node.cores are cores");
  return site;
}

}  // namespace hpcboot::jobscripts
