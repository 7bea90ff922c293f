#include "probe_text.hpp"
#include "probed_site.hpp"

namespace hpcboot::jobscripts {
namespace {

ProbedNodes nodes_of(const std::string& block, bool is_torque) {
  ProbedNodes nodes;
  nodes.count = 1;
  if (is_torque) {
    nodes.cores = leading_number(value_of(block, "np"));
    nodes.gpus = leading_number(value_of(block, "gpus"));
    // "rectime=…,physmem=131915000kb,…"
    nodes.memory_gb = gibibytes(part_of(value_of(block, "status"), "physmem"), 'k');
  } else {
    nodes.cores = leading_number(value_of(block, "resources_available.ncpus"));
    nodes.gpus = leading_number(value_of(block, "resources_available.ngpus"));
    nodes.memory_gb = gibibytes(value_of(block, "resources_available.mem"), 'b');
    nodes.queue = value_of(block, "queue");
  }
  return nodes;
}

}  // namespace

// pbsnodes(8), qstat(1) of PBS Pro, OpenPBS and Torque. Tested with OpenPBS 23.06; Torque
// according to its manual.
std::optional<ProbedSite> probe_pbs(const Ask& ask) {
  const auto listed = ask({"pbsnodes", "-a"});
  const auto server = ask({"qstat", "-Bf"});
  if (!listed || !server || trimmed(*listed).empty()) return std::nullopt;
  ProbedSite site;
  const bool is_torque = listed->find("resources_available.") == std::string::npos;
  site.scheduler = is_torque ? "torque" : "pbs";
  site.launcher = "mpirun";
  site.documentation = is_torque ? "https://docs.adaptivecomputing.com" : "https://openpbs.org";
  site.asked = "pbsnodes -a, qstat -Bf, qstat -Qf";
  for (const auto& [host, block] : blocks_of(*listed))
    add_alike(site.nodes, nodes_of(block, is_torque));

  const std::string standard = value_of(*server, "default_queue");
  const auto queues = blocks_of(ask({"qstat", "-Qf"}).value_or(""));
  const auto limit_of = [&](const std::string& queue) -> std::optional<int> {
    const auto found = queues.find(queue);
    if (found == queues.end()) return std::nullopt;
    return seconds_of(value_of(found->second, "resources_max.walltime"));
  };
  for (ProbedNodes& nodes : site.nodes) {
    // Hosts that belong to no queue serve all queues.
    nodes.is_default = nodes.queue.empty() || nodes.queue == standard;
    nodes.limit_seconds = limit_of(nodes.queue.empty() ? standard : nodes.queue);
  }
  const auto blocks = blocks_of(*server);
  if (!blocks.empty()) site.cluster = blocks.begin()->first;
  if (const auto mpiexec = ask({"mpiexec", "--version"});
      !is_torque && mpiexec && mpiexec->find("PALS") != std::string::npos)
    site.launcher = "pals";
  site.notes.emplace_back(
      "Sites that allocate whole nodes need queue.whole_nodes = true, and many require options of "
      "their own: queue.options, queue.chunk");
  return site;
}

}  // namespace hpcboot::jobscripts
