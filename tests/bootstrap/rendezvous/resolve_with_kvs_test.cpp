#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "hpcboot/error.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"

namespace hpcboot {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

// One rank's view of ranks that have already published their host and address.
class FakeKvs : public KeyValueStore {
 public:
  FakeKvs(int rank, std::vector<std::string> told, std::vector<int> nodes = {})
      : rank_(rank), told_(std::move(told)), nodes_(std::move(nodes)) {}

  void put(const std::string&, const std::string& value) override { said = value; }
  void commit(std::chrono::milliseconds) override { ++commits; }
  std::string get(int rank, const std::string&, std::chrono::milliseconds deadline) override {
    EXPECT_EQ(commits, 1);
    shortest = std::min(shortest, deadline);
    asked.push_back(rank);
    return told_.at(static_cast<std::size_t>(rank));
  }
  void fence(std::chrono::milliseconds) override {}
  std::vector<int> node_map(std::chrono::milliseconds) override { return nodes_; }
  int rank() const override { return rank_; }
  int world_size() const override { return static_cast<int>(told_.size()); }
  std::string description() const override { return "fake: test"; }

  std::string said;
  int commits = 0;
  std::vector<int> asked;
  std::chrono::milliseconds shortest = std::chrono::milliseconds::max();  // deadline of a get()

 private:
  int rank_;
  std::vector<std::string> told_;
  std::vector<int> nodes_;
};

// Ranks alternating between two hosts, and one more on the first.
const std::vector<std::string> kInTurn = {"n1 10.0.0.1", "n2 10.0.0.2", "n1 10.0.0.1",
                                          "n2 10.0.0.2", "n1 10.0.0.1"};

Facts on(const std::string& host, const std::string& address) {
  Facts facts;
  facts.hostname = host;
  Interface interface;
  interface.name = "eth0";
  interface.address = address;
  facts.interfaces = {interface};
  return facts;
}

Env bare_pmix(int rank) {
  return Env(Variables{{"PMIX_RANK", std::to_string(rank)}, {"PMIX_NAMESPACE", "prterun-x-1@1"}});
}

TEST(ResolveWithKvs, BarePmixGetsAllOfItsPlacement) {
  FakeKvs kvs(4, kInTurn);
  const Resolution r = resolve_with_kvs(bare_pmix(4), on("n1", "10.0.0.1"), kvs, 1s);
  EXPECT_EQ(kvs.said, "n1 10.0.0.1");
  EXPECT_EQ(r.launcher, "pmix");
  EXPECT_EQ(r.placement.rank, 4);
  EXPECT_EQ(r.placement.world_size, 5);
  EXPECT_EQ(r.placement.local_rank, 2);
  EXPECT_EQ(r.placement.local_size, 3);
  EXPECT_EQ(r.placement.node_rank, 0);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  EXPECT_EQ(r.master_addr, "10.0.0.1");
  EXPECT_EQ(r.provenance.at("rank").variable, "PMIX_RANK");
  EXPECT_EQ(r.provenance.at("world_size").source, "exchange");
  EXPECT_EQ(r.provenance.at("master_addr").variable, "fake: test");
}

TEST(ResolveWithKvs, TheLaunchersWordsStayAndGapsAreFilled) {
  FakeKvs kvs(3, kInTurn);
  const Env env(Variables{
      {"PMI_RANK", "3"}, {"PMI_SIZE", "5"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  const Resolution r = resolve_with_kvs(env, on("n2", "10.0.0.2"), kvs, 1s);
  EXPECT_EQ(r.launcher, "hydra");
  EXPECT_EQ(r.placement.local_rank, 1);
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_EQ(r.provenance.at("local_size").variable, "MPI_LOCALNRANKS");
  EXPECT_EQ(r.provenance.at("node_rank").source, "exchange");
  EXPECT_EQ(r.master_addr, "10.0.0.1");
}

TEST(ResolveWithKvs, OneRankOfEachNodeIsAskedWhereThereIsANodeMap) {
  FakeKvs kvs(4, kInTurn, {0, 1, 0, 1, 0});
  const Resolution r = resolve_with_kvs(bare_pmix(4), on("n1", "10.0.0.1"), kvs, 1s);
  EXPECT_THAT(kvs.asked, ElementsAre(0, 1));
  EXPECT_EQ(kvs.said, "");
  EXPECT_EQ(r.placement.local_rank, 2);
  EXPECT_EQ(r.placement.local_size, 3);
  EXPECT_EQ(r.placement.node_rank, 0);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  FakeKvs first(1, kInTurn, {0, 1, 0, 1, 0});
  resolve_with_kvs(bare_pmix(1), on("n2", "10.0.0.2"), first, 1s);
  EXPECT_EQ(first.said, "n2 10.0.0.2");
}

// Each of Hydra's proxies counts separately: n1 is listed twice in the host file and is two nodes
// in the node map. Two of its ranks must not both get device 0.
TEST(ResolveWithKvs, AHostThatHydraHasTwiceIsCountedTogether) {
  for (const std::vector<int>& nodes : {std::vector<int>{}, {0, 1, 2}}) {
    for (const int rank : {0, 2}) {
      FakeKvs kvs(rank, {"n1 10.0.0.1", "n2 10.0.0.2", "n1 10.0.0.1"}, nodes);
      const Env env(Variables{{"PMI_RANK", std::to_string(rank)},
                              {"PMI_SIZE", "3"},
                              {"MPI_LOCALRANKID", "0"},
                              {"MPI_LOCALNRANKS", "1"},
                              {"CUDA_VISIBLE_DEVICES", "0,1"}});
      const Resolution r = resolve_with_kvs(env, on("n1", "10.0.0.1"), kvs, 1s);
      EXPECT_EQ(r.launcher, "hydra");
      EXPECT_EQ(r.placement.local_rank, rank / 2);
      EXPECT_EQ(r.placement.local_size, 2);
      EXPECT_EQ(r.placement.node_rank, 0);
      EXPECT_EQ(r.placement.num_nodes, 2);
      EXPECT_EQ(r.device, rank / 2);
      EXPECT_EQ(r.provenance.at("rank").variable, "PMI_RANK");
      EXPECT_EQ(r.provenance.at("local_rank").source, "exchange");
      ASSERT_EQ(r.hints.size(), 1U);
      EXPECT_THAT(r.hints[0], HasSubstr("hydra counts host n1 more than once"));
    }
  }
}

// `flux start --test-size` starts several brokers on one host, and Flux counts each as a node.
TEST(ResolveWithKvs, AHostOfSeveralFluxBrokersIsCountedTogether) {
  const int local_ranks[] = {0, 1, 0};
  for (const int rank : {0, 1, 2}) {
    FakeKvs kvs(rank, {"n1 10.0.0.1", "n1 10.0.0.1", "n1 10.0.0.1"}, {0, 0, 1});
    const Env env(Variables{{"FLUX_TASK_RANK", std::to_string(rank)},
                            {"FLUX_JOB_SIZE", "3"},
                            {"FLUX_TASK_LOCAL_ID", std::to_string(local_ranks[rank])},
                            {"FLUX_JOB_NNODES", "2"}});
    const Resolution r = resolve_with_kvs(env, on("n1", "10.0.0.1"), kvs, 1s);
    EXPECT_EQ(r.launcher, "flux");
    EXPECT_EQ(r.placement.local_rank, rank);
    EXPECT_EQ(r.placement.local_size, 3);
    EXPECT_EQ(r.placement.node_rank, 0);
    EXPECT_EQ(r.placement.num_nodes, 1);
    ASSERT_EQ(r.hints.size(), 1U);
    EXPECT_THAT(r.hints[0], HasSubstr("flux counts host n1 more than once"));
  }
}

// Each rank runs in its own container.
TEST(ResolveWithKvs, LocalRanksThatHostNamesContradictGiveAHint) {
  FakeKvs kvs(1, {"c0 10.0.0.1", "c1 10.0.0.2"});
  const Env env(Variables{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  const Resolution r = resolve_with_kvs(env, on("c1", "10.0.0.2"), kvs, 1s);
  EXPECT_EQ(r.placement.local_rank, 1);
  ASSERT_EQ(r.hints.size(), 1U);
  EXPECT_THAT(r.hints[0], HasSubstr("among the ranks on host c1 it is number 0"));
}

// Two processes that a user numbered alike.
TEST(ResolveWithKvs, ALocalSizeThatHostNamesContradictGivesAHint) {
  const auto hints_for = [](const char* local_size, const char* local_rank) {
    FakeKvs kvs(1, {"n1 10.0.0.1", "n1 10.0.0.1"});
    const Env env(Variables{{"HPCBOOT_RANK", "1"},
                            {"HPCBOOT_WORLD_SIZE", "2"},
                            {"HPCBOOT_LOCAL_RANK", local_rank},
                            {"HPCBOOT_LOCAL_SIZE", local_size}});
    return resolve_with_kvs(env, on("n1", "10.0.0.1"), kvs, 1s).hints;
  };
  EXPECT_THAT(hints_for("1", "0"),
              ElementsAre("explicit reports local_size 1, but host n1 has 2 ranks"));
  EXPECT_THAT(hints_for("2", "1"), ElementsAre());
}

TEST(ResolveWithKvs, TheLongestDeadlineIsAwaited) {
  FakeKvs kvs(1, kInTurn);
  resolve_with_kvs(bare_pmix(1), on("n2", "10.0.0.2"), kvs, std::chrono::milliseconds::max());
  EXPECT_GT(kvs.shortest, 1s);
}

TEST(ResolveWithKvs, AHostWithoutAnInterfaceIsReachedByName) {
  FakeKvs kvs(1, {"n1 ", "n2 "});
  Facts facts;
  facts.hostname = "n2";
  EXPECT_EQ(resolve_with_kvs(bare_pmix(1), facts, kvs, 1s).master_addr, "n1");
  EXPECT_EQ(kvs.said, "n2 ");
}

TEST(ResolveWithKvs, AnotherLaunchsExchangeIsAnError) {
  FakeKvs kvs(1, {"n1 ", "n2 "});
  try {
    resolve_with_kvs(bare_pmix(0), on("n1", "10.0.0.1"), kvs, 1s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement);
    EXPECT_THAT(error.found(), HasSubstr("fake: test reports rank 1 of 2"));
  }
}

// PMIx gives each process its rank, but not the number of them.
TEST(ResolveWithKvs, AnotherLaunchsExchangeIsAnErrorIfOnlyTheRankIsKnown) {
  FakeKvs kvs(0, {"n1 "});
  try {
    resolve_with_kvs(bare_pmix(1), on("n1", "10.0.0.1"), kvs, 1s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement);
    EXPECT_EQ(error.found(), "pmix reports rank 1, but fake: test reports rank 0 of 1");
  }
}

// The exchange would give a placement, but the environment is not one launch's.
TEST(ResolveWithKvs, AContradictionOfTheLauncherIsNotFilledFromTheExchange) {
  FakeKvs kvs(1, {"n1 10.0.0.1", "n1 10.0.0.1"});
  const Env env(Variables{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "5"}, {"MPI_LOCALNRANKS", "2"}});
  try {
    resolve_with_kvs(env, on("n1", "10.0.0.1"), kvs, 1s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement);
    EXPECT_THAT(error.found(), HasSubstr("MPI_LOCALRANKID=5"));
  }
}

TEST(ResolveWithKvs, SingletonsAreExplained) {
  FakeKvs kvs(0, {"n1 "});
  const Env env(Variables{{"SLURM_PROCID", "3"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_JOB_ID", "7"},
                          {"SLURM_STEP_NUM_TASKS", "4"}});
  try {
    resolve_with_kvs(env, on("n1", "10.0.0.1"), kvs, 1s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::inconsistent_placement);
    EXPECT_EQ(error.found(), "slurm started 4 processes, but each is rank 0 of 1 to fake: test");
  }
  EXPECT_NO_THROW(check_not_singleton(1, 1, "slurm", "MPI"));
  EXPECT_NO_THROW(check_not_singleton(4, 4, "slurm", "MPI"));
}

}  // namespace
}  // namespace hpcboot
