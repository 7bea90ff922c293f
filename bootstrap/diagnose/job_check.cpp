#include "hpcboot/job_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/launch_source.hpp"

namespace hpcboot {
namespace {

using Names = std::vector<std::string>;

// "0,2-4" for {0, 2, 3, 4}.
std::string numbers(const std::vector<int>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const int value : values) texts.push_back(std::to_string(value));
  std::string text = hostlist::compress(texts);
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '[' || c == ']'; }),
             text.end());
  return text;
}

std::string joined(const Names& names) {
  static constexpr std::size_t kShown = 8;  // a job may have thousands
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

std::string text_of(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "unknown";
}

// Launchers that disagree with the one that placed these processes: one text for each, from the
// first process that reports it.
std::vector<std::string> conflicts_in(const std::vector<const ReportedRank*>& ranks,
                                      bool is_explained) {
  std::map<std::string, std::pair<std::string, int>> by_source;
  for (const ReportedRank* rank : ranks) {
    for (const OtherSource& other_source : rank->resolution->other_sources) {
      if (other_source.agrees || other_source.is_explained != is_explained) continue;
      auto& [text, count] = by_source[other_source.source];
      if (count++ == 0)
        text = rank->name + ": " + other_source.source + " disagrees: " + other_source.note;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [source, entry] : by_source) {
    const auto& [text, count] = entry;
    texts.push_back(text);
    if (count > 1) texts.back() += " (and " + std::to_string(count - 1) + " more)";
  }
  return texts;
}

class JobCheck {
 public:
  explicit JobCheck(const std::vector<ReportedRank>& ranks) {
    for (const ReportedRank& rank : ranks) {
      if (rank.resolution) {
        resolved_.push_back(&rank);
      } else {
        add("unresolved", rank.name + ": " + rank.error, {rank.name});
      }
    }
  }

  std::vector<JobProblem> run() {
    if (resolved_.empty()) {
      if (problems_.empty()) add("empty", "there are no ranks", {});
      return std::move(problems_);
    }
    const bool all_single = std::all_of(resolved_.begin(), resolved_.end(), [](const auto* rank) {
      return rank->resolution->launcher == "single";
    });
    if (all_single && resolved_.size() > 1) {
      add("no launcher",
          std::to_string(resolved_.size()) +
              " processes each run alone as rank 0 of 1: no launcher placed them",
          {});
      return std::move(problems_);
    }
    check_ranks();
    check_agreement();
    check_hosts();
    for (std::string& text : conflicts_in(resolved_, false))
      add("launchers disagree", std::move(text), {});
    return std::move(problems_);
  }

 private:
  void add(std::string kind, std::string text, Names names) {
    problems_.push_back({std::move(kind), std::move(text), std::move(names)});
  }

  void check_ranks() {
    std::map<int, Names> holders;
    int world_size = 0;
    for (const ReportedRank* rank : resolved_) {
      const Placement& placement = rank->resolution->placement;
      holders[placement.rank].push_back(rank->name);
      world_size = std::max(world_size, placement.world_size);
    }
    for (const auto& [rank, names] : holders) {
      if (names.size() > 1) {
        add("duplicate rank",
            "rank " + std::to_string(rank) + " is held by " + std::to_string(names.size()) +
                " processes: " + joined(names),
            names);
      }
    }
    add_missing(holders, world_size);
  }

  // By gaps: a rank may claim a world of 2^31.
  void add_missing(const std::map<int, Names>& holders, int world_size) {
    std::string ranges;
    int count = 0;
    int next = 0;
    const auto add_until = [&](int end) {
      if (next >= end) return;
      ranges += (ranges.empty() ? "" : ",") + std::to_string(next);
      if (end - next > 1) ranges += "-" + std::to_string(end - 1);
      count += end - next;
    };
    for (const auto& [rank, names] : holders) {
      add_until(rank);
      next = rank + 1;
    }
    add_until(world_size);
    if (count == 0) return;
    add("missing rank",
        (count == 1 ? "rank " : "ranks ") + ranges + " of " + std::to_string(world_size) +
            (count == 1 ? " is missing" : " are missing"),
        {});
  }

  // mpirun over ssh passes a job's variables only to the ranks on its own host. Agents of `hpcboot
  // run`, and anything else that sets HPCBOOT_RANK on several hosts, may pass on the variables but
  // not the files that they name.
  static bool may_lack_job(const Resolution& r) {
    return !traits_of(r.launcher).hands_on_job_variables || r.launcher == "explicit";
  }

  // Schedulers write "n1" for a host that calls itself "n1.cluster".
  static std::string labels_of(std::vector<std::string> hosts) {
    for (std::string& host : hosts) {
      if (!is_numeric_address(host)) host.resize(std::min(host.find('.'), host.size()));
    }
    return hostlist::compress(hosts);
  }

  // All must report the same text; those that differ from the majority are named. nullopt matches
  // any text.
  template <typename TextOf>
  void check_same(const std::string& field, TextOf text) {
    std::map<std::string, Names> said;
    for (const ReportedRank* rank : resolved_) {
      const std::optional<std::string> value = text(*rank->resolution);
      if (value) said[*value].push_back(rank->name);
    }
    if (said.size() < 2) return;
    const auto most = std::max_element(said.begin(), said.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    for (const auto& [value, names] : said) {
      if (value == most->first) continue;
      add(field + " differs",
          joined(names) + (names.size() == 1 ? " has " : " have ") + field + " " + value + ", " +
              std::to_string(most->second.size()) +
              (most->second.size() == 1 ? " other has " : " others have ") + most->first,
          names);
    }
  }

  void check_agreement() {
    using Text = std::optional<std::string>;
    // An unknown value is "unknown", or nullopt if it may be missing.
    const auto or_unknown = [](const Resolution& r, const Text& value) {
      return value || may_lack_job(r) ? value : Text("unknown");
    };
    check_same("world_size",
               [](const Resolution& r) { return std::to_string(r.placement.world_size); });
    check_same("num_nodes", [&](const Resolution& r) {
      const auto& nodes = r.placement.num_nodes;
      return or_unknown(r, nodes ? Text(std::to_string(*nodes)) : std::nullopt);
    });
    check_same("launcher", [](const Resolution& r) { return r.launcher; });
    check_same("job_id", [&](const Resolution& r) { return or_unknown(r, r.job_id); });
    check_same("hosts", [&](const Resolution& r) {
      return or_unknown(r, r.hosts.empty() ? std::nullopt : Text(labels_of(r.hosts)));
    });
    check_same("master", [&](const Resolution& r) {
      return or_unknown(
          r, r.master_addr ? Text(*r.master_addr + ":" + text_of(r.master_port)) : std::nullopt);
    });
  }

  void check_hosts() {
    std::map<std::string, std::vector<const ReportedRank*>> by_host;
    for (const ReportedRank* rank : resolved_) {
      if (!rank->hostname.empty()) by_host[rank->hostname].push_back(rank);
    }
    std::map<int, std::string> host_of_node;
    for (const auto& [host, ranks] : by_host) {
      check_local_ranks(host, ranks);
      const auto node = ranks.front()->resolution->placement.node_rank;
      if (!node) continue;
      const auto [known, is_new] = host_of_node.emplace(*node, host);
      if (!is_new) {
        Names names;
        for (const ReportedRank* rank : ranks) names.push_back(rank->name);
        add("node_rank twice",
            "hosts " + known->second + " and " + host + " both have node_rank " +
                std::to_string(*node),
            names);
      }
    }
  }

  // On one host: local ranks from 0, each once; equal sizes and node ranks.
  void check_local_ranks(const std::string& host, const std::vector<const ReportedRank*>& ranks) {
    std::multiset<int> local_ranks;
    std::set<std::optional<int>> sizes;
    std::set<std::optional<int>> nodes;
    Names names;
    for (const ReportedRank* rank : ranks) {
      const Placement& placement = rank->resolution->placement;
      local_ranks.insert(placement.local_rank);
      sizes.insert(placement.local_size);
      nodes.insert(placement.node_rank);
      names.push_back(rank->name);
    }
    const std::vector<int> sorted(local_ranks.begin(), local_ranks.end());
    const bool all_here = std::none_of(problems_.begin(), problems_.end(), [](const auto& problem) {
      return problem.kind == "missing rank" || problem.kind == "unresolved";
    });
    const int count = static_cast<int>(sorted.size());
    const bool distinct = std::set<int>(sorted.begin(), sorted.end()).size() == sorted.size();
    // If a rank is missing, a gap is not an error of those present.
    if (!distinct || (all_here && sorted.back() != count - 1)) {
      add("local_rank wrong",
          "host " + host + " has local ranks " + numbers(sorted) + ", not 0 to " +
              std::to_string(count - 1) + ": " + joined(names),
          names);
    }
    const std::optional<int> size = *sizes.begin();
    if (sizes.size() > 1 || (all_here && size && *size != count)) {
      std::string said;
      for (const auto& value : sizes) said += (said.empty() ? "" : " and ") + text_of(value);
      add("local_size wrong",
          "host " + host + " has local_size " + said + " but " + std::to_string(count) +
              " ranks: " + joined(names),
          names);
    }
    if (nodes.size() > 1) {
      std::string said;
      for (const auto& value : nodes) said += (said.empty() ? "" : " and ") + text_of(value);
      add("node_rank differs", "host " + host + " has node_rank " + said + ": " + joined(names),
          names);
    }
  }

  std::vector<const ReportedRank*> resolved_;
  std::vector<JobProblem> problems_;
};

}  // namespace

std::vector<std::string> notes_of_job(const std::vector<ReportedRank>& ranks) {
  std::vector<const ReportedRank*> resolved;
  for (const ReportedRank& rank : ranks) {
    if (rank.resolution) resolved.push_back(&rank);
  }
  return conflicts_in(resolved, true);
}

std::vector<JobProblem> check_job(const std::vector<ReportedRank>& ranks) {
  return JobCheck(ranks).run();
}

}  // namespace hpcboot
