#include "report/run_details.hpp"

#include <fmt/format.h>

#include <map>

#include "core/counted.hpp"
#include "record/run_work.hpp"
#include "record/runtime_columns.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"
#include "text/html_table.hpp"

namespace hpcboot::report {
namespace {

using record::HostRecord;
using record::RankRecord;
using record::RunRecord;

constexpr std::size_t kMostRanks = 512;   // drawn
constexpr std::size_t kMostFields = 100;  // drawn; a placement has a dozen

std::string text_of(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "–";
}

/// "4 processors, other programs used 2.5 of them", as far as it is known.
Encoded load_of(const HostRecord& host) {
  std::vector<std::string> parts;
  if (host.processors) parts.push_back(counted(*host.processors, "processor"));
  if (host.others) parts.push_back(fmt::format("other programs used {:.1f}", *host.others));
  if (host.busy) parts.emplace_back("kept busy by other programs (*)");
  if (parts.empty()) return {};
  return html_format("<p{}>{}</p>\n", host.busy ? Encoded(" class=\"busy\"") : Encoded(),
                     fmt::format("{}", fmt::join(parts, ", ")));
}

Encoded rank_box(const RankRecord& rank) {
  return html_format(
      "<li title=\"rank {}, local rank {}, pid {}, interface {}, backend {}\"><b>{}</b> {}</li>\n",
      rank.placement.rank, rank.placement.local_rank, rank.pid, rank.interface.value_or("–"),
      rank.backend.value_or("–"), rank.placement.rank, rank.device);
}

/// A box for each host, with its ranks in it.
Encoded placement_of(const RunRecord& run) {
  std::vector<std::string> hosts;
  std::map<std::string, Encoded> ranks;
  for (std::size_t i = 0; i < std::min(run.ranks.size(), kMostRanks); ++i) {
    const RankRecord& rank = run.ranks[i];
    if (ranks.count(rank.host) == 0) hosts.push_back(rank.host);
    ranks[rank.host] += rank_box(rank);
  }
  std::map<std::string, Encoded> loads;
  for (const HostRecord& host : run.hosts) loads[host.host] = load_of(host);
  Encoded boxes;
  for (const std::string& host : hosts) {
    boxes += html_format("<div class=\"host\"><h4>{}</h4>\n{}<ol>\n{}</ol></div>\n", host,
                         loads[host], ranks[host]);
  }
  Encoded text = "<div class=\"hosts\">\n" + boxes + "</div>\n";
  if (run.ranks.size() > kMostRanks)
    text += html_format("<p>and {} more ranks</p>\n", run.ranks.size() - kMostRanks);
  return text;
}

/// The value of a field of the placement, as far as a rank's record has it.
std::string placement_value(const RankRecord& rank, const std::string& field) {
  const Placement& placement = rank.placement;
  if (field == "rank") return std::to_string(placement.rank);
  if (field == "world_size") return std::to_string(placement.world_size);
  if (field == "local_rank") return std::to_string(placement.local_rank);
  if (field == "local_size") return text_of(placement.local_size);
  if (field == "node_rank") return text_of(placement.node_rank);
  if (field == "num_nodes") return text_of(placement.num_nodes);
  if (field == "interface") return rank.interface.value_or("–");
  if (field == "device") return rank.device;
  return "–";
}

/// The ranks whose value has another origin than that of rank 0: "ranks 3, 5 and 2 more: …".
std::string others_of(const RunRecord& run, const std::string& field, const Provenance& first) {
  constexpr std::size_t kMost = 4;
  std::vector<int> others;
  std::size_t count = 0;
  for (const RankRecord& rank : run.ranks) {
    const auto found = rank.provenance.find(field);
    const bool is_same = found != rank.provenance.end() && found->second.source == first.source &&
                         found->second.variable == first.variable;
    if (!is_same && ++count <= kMost) others.push_back(rank.placement.rank);
  }
  if (count == 0) return "the same";
  return fmt::format("differs on {} {}", count == 1 ? "rank" : "ranks", fmt::join(others, ", ")) +
         (count > kMost ? fmt::format(" and {} more", count - kMost) : "");
}

Encoded provenance_of(const RunRecord& run) {
  if (run.ranks.empty() || run.ranks.front().provenance.empty()) return {};
  HtmlTable table({{"Value"}, {"Of rank 0"}, {"Source"}, {"Variable or rule"}, {"Other ranks"}});
  const auto& fields = run.ranks.front().provenance;
  std::size_t drawn = 0;
  for (const auto& [field, origin] : fields) {
    if (++drawn > kMostFields) break;
    table.add({field, placement_value(run.ranks.front(), field), origin.source, origin.variable,
               run.ranks.size() > 1 ? others_of(run, field, origin) : std::string("–")});
  }
  Encoded text = "<h4>Provenance</h4>\n" + wide("Provenance", table.html());
  if (fields.size() > kMostFields)
    text += html_format("<p>and {} more values</p>\n", fields.size() - kMostFields);
  return text;
}

Encoded facts_of(const DetailedRun& run) {
  const RunRecord& record = run.record;
  std::vector<std::pair<std::string, std::string>> facts{
      {"folder", run.folder.string()},
      {"started", record.started},
      {"finished", record.finished.value_or("–")},
      {"runtime", record::duration_text(record.totals.runtime_seconds)},
      {"launch before it", record::duration_text(record.totals.launch_seconds)},
      {"launcher", record.launcher},
      {"rendezvous", record.rendezvous.value_or("–")},
      {"scheduler", record.scheduler.value_or("–")},
      {"job", record.job_id.value_or("–")},
      {"site", record.site.value_or("–")}};
  for (const auto& [name, version] : record.versions) facts.emplace_back(name, version);
  if (!record.identity.is_null() && record.identity.contains("data") &&
      record.identity["data"].is_string())
    facts.emplace_back("data", record.identity["data"].get<std::string>());
  Encoded text;
  for (const auto& [name, value] : facts)
    text += html_format("<dt>{}</dt><dd>{}</dd>\n", name, value);
  return "<h4>Ran with</h4>\n<dl>\n" + text + "</dl>\n";
}

Encoded details_of(const DetailedRun& run, std::size_t number) {
  const RunRecord& record = run.record;
  const std::string about =
      fmt::format("{}, {} {}x{}, {}", record.run, record::method_of(record.mode()), record.nodes,
                  record.devices_per_node,
                  record.exit_reason == record::kFinished
                      ? "in " + record::duration_text(record.totals.runtime_seconds)
                  : record.exit_reason == record::kRunning ? "in progress, or killed"
                                                           : record.exit_reason);
  return html_format("<details id=\"run-{}\"{}>\n<summary>{}</summary>\n", number,
                     number == 1 ? Encoded(" open") : Encoded(), about) +
         "<h4>Placement</h4>\n" + placement_of(record) + provenance_of(record) + facts_of(run) +
         "</details>\n";
}

}  // namespace

Encoded details_section(const ReportData& data) {
  if (data.newest.empty()) return {};
  Encoded section =
      "<p>The newest, finished or not: where their ranks ran, and where each value of their "
      "placement "
      "comes from.</p>\n";
  for (std::size_t i = 0; i < data.newest.size(); ++i) section += details_of(data.newest[i], i + 1);
  return section;
}

}  // namespace hpcboot::report
