#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "hpcboot/error.hpp"
#include "hpcboot/export.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"
#include "json/capture_folder.hpp"
#include "json/resolution_json.hpp"
#include "rendezvous/launch_identity.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "support/paths.hpp"

// Environments captured from real launches, or written from documentation if no launch was possible
// (see PROVENANCE.md in each), one folder per launch, one file per rank: every rank resolves to the
// expected placement, the ranks together form a job, and no damaged variable causes a wrong answer.
namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Rank {
  Env env;
  Facts facts;
  ResolveOptions options;
  Json expected;

  Json resolve_json(const Env& other) const { return to_json(resolve(other, facts, options)); }
};

std::vector<Rank> load(const fs::path& folder) {
  std::vector<Rank> ranks;
  const Json expected = Json::parse(slurp(folder / "expected.json"));
  for (const auto& [rank, fields] : expected.at("ranks").items()) {
    CapturedRank captured = read_captured_rank(folder.string(), "rank" + rank);
    ranks.push_back({captured.env, captured.facts, captured.options, fields});
  }
  return ranks;
}

bool unknown(const Json& value) {
  return value.is_null() || (value.is_array() && value.empty());
}

// A build without toml++ has no described launchers and schedulers.
bool is_known_here(const fs::path& folder) {
  const Json expected = Json::parse(slurp(folder / "expected.json"));
  const Json& rank = expected.at("ranks").begin().value();
  const auto& all = launch_sources();
  const std::string launcher = rank.value("launcher", "single");
  const Json scheduler = rank.value("scheduler", Json());
  return (launcher == "single" ||
          std::any_of(all.begin(), all.end(),
                      [&](const auto* s) { return s->name == launcher; })) &&
         (scheduler.is_null() || find_scheduler(scheduler.get<std::string>()) != nullptr);
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const fs::path folder = fs::path(test::golden_environments()) / GetParam();
    if (!is_known_here(folder)) GTEST_SKIP() << "this build lacks toml++, which describes it";
    ranks_ = load(folder);
  }

  std::vector<Rank> ranks_;
};

TEST_P(Golden, EveryRankIsAsExpected) {
  ASSERT_FALSE(ranks_.empty());
  for (const Rank& rank : ranks_) {
    const Json got = rank.resolve_json(rank.env);
    for (const auto& [field, value] : rank.expected.items()) {
      if (unknown(value) && unknown(got.at(field))) continue;
      EXPECT_EQ(got.at(field), value) << field << " of rank " << rank.expected["rank"];
    }
    for (const char* field : {"rank", "world_size", "local_rank"})
      EXPECT_FALSE(got[field].is_null());
  }
}

TEST_P(Golden, TheRanksMakeAJob) {
  // A batch script and each task of an array are separate worlds.
  std::set<int> seen;
  std::set<std::pair<Json, int>> places;
  std::map<Json, int> local_sizes;
  std::set<Json> nodes;
  std::set<Json> hosts;
  std::set<Json> endpoints;
  int world_size = 0;
  for (const Rank& rank : ranks_) {
    const Json got = rank.resolve_json(rank.env);
    world_size = got["world_size"];
    if (world_size == 1) continue;
    EXPECT_TRUE(seen.insert(got["rank"].get<int>()).second) << "rank twice";
    const Json node =
        got["node_rank"].is_null() ? Json(rank.facts.hostname.value_or("")) : got["node_rank"];
    EXPECT_TRUE(places.emplace(node, got["local_rank"].get<int>()).second)
        << "(node, local_rank) twice";
    if (!got["local_size"].is_null()) local_sizes[node] = got["local_size"].get<int>();
    nodes.insert(node);
    hosts.insert(got["hosts"]);
    endpoints.insert(Json::array({got["master_addr"], got["master_port"]}));
  }
  if (world_size == 1) return;
  EXPECT_EQ(static_cast<int>(seen.size()), world_size);
  EXPECT_EQ(*seen.rbegin(), world_size - 1);
  int total = 0;
  for (const auto& [node, size] : local_sizes) total += size;
  // Flux does not report a local size.
  if (local_sizes.size() == nodes.size()) {
    EXPECT_EQ(total, world_size) << "local sizes";
  }
  EXPECT_EQ(hosts.size(), 1U) << "ranks disagree on the hosts";
  EXPECT_EQ(endpoints.size(), 1U) << "ranks disagree on the endpoint";
}

// As in a shell after `eval "$(hpcboot env)"`, and in a program under `hpcboot exec`.
TEST_P(Golden, ItsOwnExportsLeaveEveryRankAsItIs) {
  for (const Rank& rank : ranks_) {
    const Resolution before = resolve(rank.env, rank.facts, rank.options);
    std::map<std::string, std::string> variables(rank.env.variables().begin(),
                                                 rank.env.variables().end());
    for (const std::string& name : torch_unset(before, rank.env)) variables.erase(name);
    for (const auto& [name, value] : torch_env(before, rank.env)) variables[name] = value;
    const Json was = to_json(before);
    const Json got = rank.resolve_json(Env(variables));
    for (const char* field : {"launcher", "rank", "world_size", "local_rank", "local_size",
                              "node_rank", "num_nodes", "hosts", "master_addr", "master_port"}) {
      EXPECT_EQ(got.at(field), was.at(field)) << field << " of rank " << rank.expected["rank"];
    }
  }
}

// Otherwise they would wait for each other in different places.
TEST_P(Golden, TheRanksMeetInOneWay) {
  std::set<std::string> identities;
  std::set<std::pair<bool, bool>> ways;
  for (const Rank& rank : ranks_) {
    const Resolution r = resolve(rank.env, rank.facts, rank.options);
    if (r.placement.world_size == 1) continue;
    identities.insert(launch_identity(r, rank.env));
    ways.emplace(rendezvous::needs_kvs(r, rank.env), rendezvous::meets_on_one_host(r, rank.env));
  }
  EXPECT_LE(identities.size(), 1U) << testing::PrintToString(identities);
  EXPECT_LE(ways.size(), 1U);
}

// One damaged variable may prevent an answer, but never cause a wrong one.
void expect_right_or_refused(const Rank& rank, const std::string& variable, const Env& damaged,
                             const std::string& how) {
  try {
    const Json got = rank.resolve_json(damaged);
    for (const char* field : {"rank", "world_size", "local_rank"}) {
      EXPECT_EQ(got[field], rank.expected[field]) << field << " with " << variable << " " << how;
    }
    for (const char* field : {"local_size", "node_rank", "num_nodes", "hosts", "device"}) {
      if (!rank.expected.contains(field) || unknown(got[field])) continue;
      EXPECT_EQ(got[field], rank.expected[field]) << field << " with " << variable << " " << how;
    }
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(variable), std::string::npos)
        << variable << " " << how << " is refused without being named: " << error.what();
  }
}

TEST_P(Golden, ADamagedVariableGivesTheRightAnswerOrARefusalThatNamesIt) {
  for (const Rank& rank : ranks_) {
    for (const auto& [name, value] : rank.env.variables()) {
      if (!parse_whole_number(value)) continue;
      std::map<std::string, std::string> variables(rank.env.variables().begin(),
                                                   rank.env.variables().end());
      variables.erase(name);
      expect_right_or_refused(rank, name, Env(variables), "removed");
      for (const char* garbled :
           {"", "x", "1x", " 1", "1.5", "-7", "4294967296", "99999999999999999999"}) {
        variables[name] = garbled;
        expect_right_or_refused(rank, name, Env(variables),
                                "set to '" + std::string(garbled) + "'");
      }
    }
  }
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::golden_environments())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Captures, Golden, testing::ValuesIn(folders()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace hpcboot
