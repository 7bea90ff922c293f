#include "jobs/run/ranks/rank_environment.hpp"

#include <gmock/gmock.h>

#include "core/export_mark.hpp"
#include "hpcboot/export.hpp"

namespace {

using hpcboot::Env;
using hpcboot::Facts;
using hpcboot::Placement;
using hpcboot::resolve;
using hpcboot::run::RankEnvironment;
using hpcboot::run::Variables;
using testing::Contains;
using testing::IsEmpty;
using testing::Pair;

Variables of_rank_1(const Variables& base, const Variables& handover = {}) {
  const RankEnvironment rank(base, Placement{1, 4, 1, 2, 0, 2}, handover, Facts{});
  return rank.complete({"n1", 20001}, false, Facts{});
}

TEST(RankEnvironment, HasWhatTorchDistributedReads) {
  const Variables variables = of_rank_1({{"HOME", "/home/u"}, {"RANK", "7"}});
  for (const auto& [name, value] : Variables{{"HOME", "/home/u"},
                                             {"RANK", "1"},
                                             {"WORLD_SIZE", "4"},
                                             {"LOCAL_RANK", "1"},
                                             {"LOCAL_WORLD_SIZE", "2"},
                                             {"GROUP_RANK", "0"},
                                             {"GROUP_WORLD_SIZE", "2"},
                                             {"MASTER_ADDR", "n1"},
                                             {"MASTER_PORT", "20001"},
                                             {"HPCBOOT_RANK", "1"},
                                             {"HPCBOOT_LOCAL_SIZE", "2"}})
    EXPECT_THAT(variables, Contains(Pair(name, value)));
}

TEST(RankEnvironment, SaysWhereTheRanksMeet) {
  EXPECT_THAT(of_rank_1({}, {{"HPCBOOT_RUN_ID", "r"}, {"HPCBOOT_RUN_HOSTS", "127.0.0.1"}}),
              Contains(Pair("HPCBOOT_RUN_HOSTS", "n1")));
}

TEST(RankEnvironment, IsReadByItsProgramAndNotByAnMpirunWithinIt) {
  Variables variables = of_rank_1({}, {{"HPCBOOT_RUN_ID", "r"}, {"HPCBOOT_RUN_SECRET", "s"}});
  const auto own = resolve(Env(variables), Facts{});
  EXPECT_EQ(own.launcher, "explicit");
  EXPECT_EQ(own.placement.rank, 1);
  EXPECT_EQ(own.master_addr, "n1");
  EXPECT_EQ(own.master_port, 20001);
  EXPECT_THAT(own.ignored_exports, IsEmpty());

  variables["OMPI_COMM_WORLD_RANK"] = "2";
  variables["OMPI_COMM_WORLD_SIZE"] = "3";
  variables["OMPI_COMM_WORLD_LOCAL_RANK"] = "2";
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "3";
  const auto within = resolve(Env(variables), Facts{});
  EXPECT_EQ(within.launcher, "openmpi");
  EXPECT_EQ(within.placement.rank, 2);
  EXPECT_EQ(within.placement.world_size, 3);
  EXPECT_NE(within.master_port, 20001);
  for (const char* name : {"HPCBOOT_RANK", "HPCBOOT_RUN_ID", "HPCBOOT_RUN_SECRET", "MASTER_PORT"})
    EXPECT_THAT(within.ignored_exports, Contains(name));
}

// hpcboot exec under hpcboot run, and then mpirun.
TEST(RankEnvironment, StaysMarkedUnderExec) {
  const Env rank(of_rank_1({}, {{"HPCBOOT_RUN_ID", "r"}}));
  Variables variables =
      hpcboot::run::torch_environment(rank, resolve(rank, Facts{}), hpcboot::DeviceChoice{});
  EXPECT_EQ(resolve(Env(variables), Facts{}).launcher, "explicit");
  variables["OMPI_COMM_WORLD_RANK"] = "2";
  variables["OMPI_COMM_WORLD_SIZE"] = "3";
  variables["OMPI_COMM_WORLD_LOCAL_RANK"] = "2";
  const auto within = resolve(Env(variables), Facts{});
  EXPECT_EQ(within.launcher, "openmpi");
  EXPECT_THAT(within.ignored_exports, Contains("HPCBOOT_RUN_ID"));
}

// hpcboot run within a rank of hpcboot run.
TEST(RankEnvironment, HasNothingOfARunFurtherOut) {
  const Variables outer = of_rank_1({});
  const RankEnvironment rank(outer, Placement{0, 1, 0, 1, 0, 1}, {}, Facts{});
  EXPECT_FALSE(rank.resolution().endpoint_is_explicit);
  const Variables inner = rank.complete({"127.0.0.1", 20002}, false, Facts{});
  EXPECT_THAT(inner, Contains(Pair("RANK", "0")));
  EXPECT_THAT(inner, Contains(Pair("WORLD_SIZE", "1")));
  EXPECT_EQ(resolve(Env(inner), Facts{}).master_port, 20002);
}

// Its launcher is none of those that may have started hpcboot run.
TEST(RankEnvironment, HasNoRestrictionOfLaunchers) {
  for (const char* methods : {"single", "openmpi"}) {
    const Variables variables = of_rank_1({{"HPCBOOT_METHODS", methods}});
    EXPECT_EQ(variables.count("HPCBOOT_METHODS"), 0U);
    EXPECT_THAT(variables, Contains(Pair("RANK", "1")));
  }
}

TEST(RankEnvironment, KeepsWhereTheUserSaysThatRank0Listens) {
  const RankEnvironment rank({{"HPCBOOT_MASTER_ADDR", "n9"}, {"HPCBOOT_MASTER_PORT", "2000"}},
                             Placement{0, 1, 0, 1, 0, 1}, {}, Facts{});
  EXPECT_TRUE(rank.resolution().endpoint_is_explicit);
  EXPECT_EQ(rank.resolution().master_addr, "n9");
  EXPECT_EQ(rank.resolution().master_port, 2000);
}

}  // namespace
