#include <algorithm>
#include <map>

#include "probe_text.hpp"
#include "probed_site.hpp"

namespace hpcboot::jobscripts {
namespace {

// The rows of a table by their first column; each row by column header.
std::map<std::string, std::map<std::string, std::string>> rows_of(const std::string& table) {
  std::map<std::string, std::map<std::string, std::string>> rows;
  std::vector<std::string> heads;
  for (const std::string& line : split(table, '\n')) {
    const auto words = words_in(line);
    if (heads.empty()) {
      heads = words;
      continue;
    }
    if (words.empty()) continue;
    auto& row = rows[words[0]];
    for (std::size_t i = 0; i < std::min(heads.size(), words.size()); ++i)
      row.emplace(heads[i], words[i]);
  }
  return rows;
}

// One row per GPU; the first row of a host starts with its name, the others with blanks.
std::map<std::string, int> gpus_of_hosts(const std::string& table) {
  std::map<std::string, int> gpus;
  std::string host;
  std::size_t at = std::min(table.find('\n'), table.size());  // after the header line
  while (at + 1 < table.size()) {
    const std::size_t end = std::min(table.find('\n', at + 1), table.size());
    const std::string line = table.substr(at + 1, end - at - 1);
    at = end;
    const auto words = words_in(line);
    if (words.empty()) continue;
    if (line[0] != ' ') host = words.front();
    ++gpus[host];
  }
  return gpus;
}

// "1440.0 min of host", or "24:00", hours and minutes.
std::optional<int> run_limit_of(const std::string& line) {
  const std::string time = line.substr(0, line.find(' '));
  if (time.find(':') != std::string::npos) return seconds_of(time, true);
  return seconds_of(time.substr(0, time.find('.')) + ":00");
}

}  // namespace

// lshosts(1), lsid(1), bparams(1), bqueues(1), according to IBM's manual of LSF 10.1; untested.
std::optional<ProbedSite> probe_lsf(const Ask& ask) {
  const auto hosts = ask({"lshosts", "-w"});
  if (!hosts || trimmed(*hosts).empty()) return std::nullopt;
  ProbedSite site;
  site.scheduler = "lsf";
  site.launcher = "mpirun";
  site.documentation = "https://www.ibm.com/docs/en/spectrum-lsf";
  site.asked = "lshosts, lsid, bparams, bqueues -l";
  const std::string ids = ask({"lsid"}).value_or("");
  constexpr std::string_view kName = "My cluster name is ";
  if (const std::size_t at = ids.find(kName); at != std::string::npos)
    site.cluster = split(ids.substr(at + kName.size()), '\n').front();
  const std::string parameters = ask({"bparams"}).value_or("");
  const auto queues = words_in(value_of(parameters, "Default Queues:"));
  const std::string queue = queues.empty() ? "" : queues.front();
  std::optional<int> limit;
  // " RUNLIMIT"; the limit is on the next line.
  const std::string said = queue.empty() ? "" : ask({"bqueues", "-l", queue}).value_or("");
  const auto lines = split(said, '\n');
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].compare(0, 8, "RUNLIMIT") == 0) limit = run_limit_of(lines[i + 1]);
  }
  const auto gpus = gpus_of_hosts(ask({"lshosts", "-gpu"}).value_or(""));
  for (const auto& [host, row] : rows_of(*hosts)) {
    ProbedNodes nodes;
    nodes.count = 1;
    nodes.is_default = true;
    nodes.queue = queue;
    if (const auto cores = row.find("ncpus"); cores != row.end())
      nodes.cores = leading_number(cores->second);
    nodes.limit_seconds = limit;
    if (const auto found = gpus.find(host); found != gpus.end()) nodes.gpus = found->second;
    if (nodes.cores > 0) add_alike(site.nodes, nodes);
  }
  return site;
}

}  // namespace hpcboot::jobscripts
