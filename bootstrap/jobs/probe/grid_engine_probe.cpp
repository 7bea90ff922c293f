#include <algorithm>

#include "probe_text.hpp"
#include "probed_site.hpp"

namespace hpcboot::jobscripts {
namespace {

// qconf wraps long lines with a backslash.
std::string whole_lines(const std::string& text) {
  std::string whole;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find("\\\n", begin)) != std::string::npos;) {
    whole.append(text, begin, at - begin);
    begin = std::min(text.find_first_not_of(" \t", at + 2), text.size());
  }
  return whole.append(text, begin);
}

// qconf -sc: "gpu  gpu  INT  <=  YES  YES  0  0"; consumable NO, YES (each slot) or JOB.
std::string gpu_resource(const std::string& complexes, std::string& consumable) {
  for (const char* name : {"gpu", "gpus", "ngpus", "num_gpus"}) {
    for (const std::string& line : split(complexes, '\n')) {
      const auto words = words_in(line);
      if (words.size() < 6 || words[0] != name || words[5] == "NO") continue;
      consumable = words[5];
      return name;
    }
  }
  return "";
}

void take_environments(ProbedSite& site, const Ask& ask) {
  for (const std::string& name : words_in(ask({"qconf", "-spl"}).value_or(""))) {
    const std::string rule =
        value_of(whole_lines(ask({"qconf", "-sp", name}).value_or("")), "allocation_rule");
    if (rule == "$pe_slots") {
      if (site.parallel_environment_of_one_host.empty())
        site.parallel_environment_of_one_host = name;
    } else if (rule == "$fill_up" || rule == "$round_robin") {
      if (site.parallel_environment.empty()) site.parallel_environment = name;
    }
  }
}

}  // namespace

// qconf(1). Tested with Debian's 8.1.9.
std::optional<ProbedSite> probe_grid_engine(const Ask& ask) {
  const auto hosts = ask({"qconf", "-sel"});
  const auto queues = ask({"qconf", "-sql"});
  if (!hosts || !queues || trimmed(*queues).empty()) return std::nullopt;
  ProbedSite site;
  site.scheduler = "sge";
  site.launcher = "mpirun";
  site.documentation = "https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html";
  site.asked = "qconf -sel, -se, -sql, -sq, -spl, -sp, -sc";
  std::string consumable;
  const std::string gpu = gpu_resource(ask({"qconf", "-sc"}).value_or(""), consumable);
  const std::string queue = split(*queues, '\n').front();
  const auto limit =
      seconds_of(value_of(whole_lines(ask({"qconf", "-sq", queue}).value_or("")), "h_rt"));
  for (const std::string& host : split(*hosts, '\n')) {
    if (host.empty()) continue;
    const std::string said = whole_lines(ask({"qconf", "-se", host}).value_or(""));
    const std::string load = value_of(said, "load_values");
    ProbedNodes nodes;
    nodes.count = 1;
    nodes.is_default = true;
    nodes.limit_seconds = limit;
    nodes.cores = leading_number(part_of(load, "num_proc"));
    if (!gpu.empty()) nodes.gpus = leading_number(part_of(value_of(said, "complex_values"), gpu));
    if (nodes.gpus > 0 && gpu != "gpu") nodes.gpu_type = gpu;
    if (nodes.cores > 0) add_alike(site.nodes, nodes);
  }
  take_environments(site, ask);
  if (consumable == "JOB")
    site.notes.emplace_back("This site counts GPUs per job, but scripts request one per slot");
  if (site.parallel_environment.empty() && site.parallel_environment_of_one_host.empty())
    site.notes.emplace_back("No parallel environment found (qconf -spl): jobs get one slot");
  site.notes.emplace_back("Queues: " + trimmed(*queues).substr(0, 200));
  std::replace(site.notes.back().begin(), site.notes.back().end(), '\n', ' ');
  return site;
}

}  // namespace hpcboot::jobscripts
