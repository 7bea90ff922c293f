#include "bandwidth_report.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "text/format.hpp"
#include "text/wrap.hpp"

namespace hpcboot::tool {
namespace {

constexpr std::size_t kAllPairs = 16;    // ranks or hosts of which every pair is measured
constexpr double kBytesOfParameter = 4;  // fp32

// "same host", or the interface that the two ranks use.
std::string way_of(const RankReport& a, const RankReport& b) {
  if (a.host == b.host) return "same host, TCP";
  const std::string first = a.resolution.interface.value_or("?");
  const std::string second = b.resolution.interface.value_or("?");
  return first == second ? first : first + ", " + second;
}

// The slowest link that was measured.
std::optional<LinkResult> slowest_of(const std::vector<LinkResult>& links) {
  std::optional<LinkResult> slowest;
  for (const LinkResult& link : links) {
    if (!link.problem.empty()) continue;
    if (!slowest || link.bytes_per_second < slowest->bytes_per_second) slowest = link;
  }
  return slowest;
}

// The two ranks whose GPUs have the slowest kind of link.
std::optional<LinkResult> slowest_of_gpus(const std::vector<LinkResult>& links) {
  std::optional<LinkResult> slowest;
  for (const LinkResult& link : links) {
    if (!link.gpus || link.gpus->kind == gpu::LinkKind::same_gpu) continue;
    if (!slowest || gpu::is_slower(*link.gpus, *slowest->gpus)) slowest = link;
  }
  return slowest;
}

// What each rank sends to the next one in the all-reduce of the gradients as a ring:
// 2 (n - 1) / n times their size (P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations", 2009). The slowest link of the ring sets its pace.
double seconds_of_a_step(double bytes_per_second, std::size_t ranks, double parameters) {
  const auto n = static_cast<double>(ranks);
  return 2 * (n - 1) / n * kBytesOfParameter * parameters / bytes_per_second;
}

// Where three digits would round up to 1000.
constexpr double kGiga = 999.5e6;
constexpr double kMega = 999.5e3;

std::string rate_text(double bytes_per_second) {
  return bytes_per_second >= kGiga ? fmt::format("{:.3g} GB/s", bytes_per_second / 1e9)
                                   : fmt::format("{:.3g} MB/s", bytes_per_second / 1e6);
}

std::string count_text(double parameters) {
  if (parameters >= kGiga) return fmt::format("{:.4g} billion", parameters / 1e9);
  return parameters >= kMega ? fmt::format("{:.3g} million", parameters / 1e6)
                             : fmt::format("{:.0f}", parameters);
}

std::string name_of(int rank, const std::vector<RankReport>& reports) {
  return fmt::format("rank {} on {}", rank, reports[static_cast<std::size_t>(rank)].host);
}

const RankReport& report_of_rank(int rank, const std::vector<RankReport>& reports) {
  return reports[static_cast<std::size_t>(rank)];
}

// The slowest link, and what limits scaling.
std::string sentence(const LinkResult& slowest, const std::vector<RankReport>& reports,
                     double parameters) {
  const RankReport& a = report_of_rank(slowest.ranks.first, reports);
  const RankReport& b = report_of_rank(slowest.ranks.second, reports);
  const double seconds = seconds_of_a_step(slowest.bytes_per_second, reports.size(), parameters);
  return fmt::format(
      "slowest: {} to {} ({}), {}. Over it, a ring all-reduce of the gradients of a model of {} "
      "parameters (fp32, {:.3g} GB) takes about {:.3g} s a step on these {} ranks; steps that "
      "compute "
      "for less wait for it.",
      name_of(slowest.ranks.first, reports), name_of(slowest.ranks.second, reports), way_of(a, b),
      rate_text(slowest.bytes_per_second), count_text(parameters),
      kBytesOfParameter * parameters / 1e9, seconds, reports.size());
}

std::string sentence_of_gpus(const LinkResult& slowest, const std::vector<RankReport>& reports) {
  return fmt::format(
      "GPUs of one host exchange over links of their own. Slowest: those of {} and rank {}, {}. "
      "trainer bench allreduce measures them.",
      name_of(slowest.ranks.first, reports), slowest.ranks.second, gpu::text_of(*slowest.gpus));
}

// The first rank of each host, and the second one if there is one.
struct HostRanks {
  std::vector<int> first;
  std::vector<RankPair> neighbours;
};

HostRanks ranks_of_hosts(const std::vector<std::string>& hosts) {
  HostRanks result;
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    std::vector<int>& own = ranks[hosts[rank]];
    own.push_back(static_cast<int>(rank));
    if (own.size() == 1) result.first.push_back(own[0]);
    if (own.size() == 2) result.neighbours.emplace_back(own[0], own[1]);
  }
  return result;
}

void add_all_pairs(const std::vector<int>& ranks, std::vector<RankPair>& pairs) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t j = i + 1; j < ranks.size(); ++j) pairs.emplace_back(ranks[i], ranks[j]);
  }
}

}  // namespace

std::vector<RankPair> links_to_measure(const std::vector<std::string>& hosts) {
  std::vector<RankPair> pairs;
  if (hosts.size() <= kAllPairs) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) ranks.push_back(static_cast<int>(rank));
    add_all_pairs(ranks, pairs);
    return pairs;
  }
  const HostRanks ranks = ranks_of_hosts(hosts);
  pairs = ranks.neighbours;
  if (ranks.first.size() <= kAllPairs) {
    add_all_pairs(ranks.first, pairs);
  } else {
    for (std::size_t i = 0; i < ranks.first.size(); ++i)
      pairs.emplace_back(ranks.first[i], ranks.first[(i + 1) % ranks.first.size()]);
  }
  return pairs;
}

Encoded bandwidth_text(const std::vector<LinkResult>& links, const std::vector<RankReport>& reports,
                       double parameters, const Look& look) {
  const auto gpus = slowest_of_gpus(links);
  std::vector<Align> columns{Align::right, Align::right, Align::left,
                             Align::left,  Align::left,  Align::right};
  std::vector<std::string> titles{"rank", "rank", "host", "host", "over", "bandwidth"};
  if (gpus) {
    columns.push_back(Align::left);
    titles.emplace_back("GPUs");
  }
  TextTable table(columns);
  table.add_titles(titles);
  for (const LinkResult& link : links) {
    const RankReport& a = report_of_rank(link.ranks.first, reports);
    const RankReport& b = report_of_rank(link.ranks.second, reports);
    std::vector<std::string> row{std::to_string(link.ranks.first),
                                 std::to_string(link.ranks.second),
                                 a.host,
                                 b.host,
                                 way_of(a, b),
                                 link.problem.empty() ? rate_text(link.bytes_per_second) : "-"};
    if (gpus) row.push_back(link.gpus ? gpu::text_of(*link.gpus) : "-");
    table.add(row);
  }
  Encoded text = table.text(look);
  for (const LinkResult& link : links) {
    if (link.problem.empty()) continue;
    text += encoded_format("not measured: ranks {} and {}: {}\n", link.ranks.first,
                           link.ranks.second, link.problem);
  }
  const auto add = [&](const std::string& sentence) {
    for (const std::string& line : wrapped(sentence, std::min<std::size_t>(look.width, 80)))
      text += encoded_format("{}\n", line);
  };
  if (const auto slowest = slowest_of(links)) add(sentence(*slowest, reports, parameters));
  if (gpus) add(sentence_of_gpus(*gpus, reports));
  return text;
}

Json bandwidth_json(const std::vector<LinkResult>& links, const std::vector<RankReport>& reports,
                    double parameters) {
  Json list = Json::array();
  for (const LinkResult& link : links) {
    const bool is_measured = link.problem.empty();
    list.push_back({{"ranks", {link.ranks.first, link.ranks.second}},
                    {"over", way_of(report_of_rank(link.ranks.first, reports),
                                    report_of_rank(link.ranks.second, reports))},
                    {"bytes_per_second", is_measured ? Json(link.bytes_per_second) : Json()},
                    {"problem", is_measured ? Json() : Json(link.problem)},
                    {"gpus", link.gpus ? Json(gpu::text_of(*link.gpus)) : Json()}});
  }
  Json object = {{"links", list}, {"slowest", nullptr}, {"seconds_a_step", nullptr}};
  object["parameters"] = parameters;
  if (const auto slowest = slowest_of(links)) {
    object["slowest"] = {slowest->ranks.first, slowest->ranks.second};
    object["seconds_a_step"] =
        seconds_of_a_step(slowest->bytes_per_second, reports.size(), parameters);
  }
  return object;
}

}  // namespace hpcboot::tool
