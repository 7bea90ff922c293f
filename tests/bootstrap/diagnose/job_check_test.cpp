#include "hpcboot/job_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two hosts of two ranks each.
std::vector<ReportedRank> good_job() {
  std::vector<ReportedRank> job;
  for (int rank = 0; rank < 4; ++rank) {
    Resolution r;
    r.placement = {rank, 4, rank % 2, 2, rank / 2, 2};
    r.launcher = "slurm";
    r.job_id = "7";
    r.hosts = {"n1", "n2"};
    r.master_addr = "n1";
    r.master_port = 20000;
    job.push_back({"rank" + std::to_string(rank), rank < 2 ? "n1" : "n2", r, ""});
  }
  return job;
}

std::vector<std::string> texts(const std::vector<ReportedRank>& job) {
  std::vector<std::string> texts;
  for (const JobProblem& problem : check_job(job)) texts.push_back(problem.text);
  return texts;
}

TEST(JobCheck, AGoodJobHasNoProblem) {
  EXPECT_THAT(texts(good_job()), IsEmpty());
}

TEST(JobCheck, ALauncherThatDisagreesIsAProblemUnlessItIsKnownWhy) {
  auto job = good_job();
  for (ReportedRank& rank : job) {
    rank.resolution->other_sources = {{"pmix", true, false, "says rank=0"},
                                      {"openmpi", false, true, "reports rank=0, ignored"}};
  }
  EXPECT_THAT(texts(job), IsEmpty());
  EXPECT_THAT(notes_of_job(job),
              ElementsAre("rank0: openmpi disagrees: reports rank=0, ignored (and 3 more)"));
  job[2].resolution->other_sources.push_back({"generic", false, false, "says rank=7"});
  EXPECT_THAT(texts(job), ElementsAre("rank2: generic disagrees: says rank=7"));
  job[2].resolution.reset();
  EXPECT_THAT(notes_of_job(job), ElementsAre(testing::EndsWith("(and 2 more)")));
}

TEST(JobCheck, NoRank) {
  EXPECT_THAT(texts({}), ElementsAre("there are no ranks"));
}

TEST(JobCheck, TheMissingAreNamed) {
  auto job = good_job();
  job.erase(job.begin() + 2);
  EXPECT_THAT(texts(job), ElementsAre("rank 2 of 4 is missing"));
  job.erase(job.begin() + 1);
  EXPECT_THAT(texts(job), ElementsAre("ranks 1-2 of 4 are missing"));
  job.erase(job.begin());
  EXPECT_THAT(texts(job), ElementsAre("ranks 0-2 of 4 are missing"));
  job = good_job();
  job.erase(job.begin() + 2);
  job.erase(job.begin());
  EXPECT_THAT(texts(job), ElementsAre("ranks 0,2 of 4 are missing"));
}

TEST(JobCheck, AWorldOfAnySizeIsCheckedAtOnce) {
  auto job = good_job();
  job.resize(1);
  job[0].resolution->placement.world_size = 2147483647;
  EXPECT_THAT(texts(job), testing::Contains("ranks 1-2147483646 of 2147483647 are missing"));
}

TEST(JobCheck, TheUnresolvedIsNamedAndCountsAsMissing) {
  auto job = good_job();
  job[1].resolution.reset();
  job[1].error = "malformed_value: SLURM_PROCID='x'";
  EXPECT_THAT(texts(job),
              ElementsAre("rank1: malformed_value: SLURM_PROCID='x'", "rank 1 of 4 is missing"));
}

TEST(JobCheck, ARankHeldTwice) {
  auto job = good_job();
  job[3].resolution->placement.rank = 2;
  const auto problems = check_job(job);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].text, "rank 2 is held by 2 processes: rank2, rank3");
  EXPECT_THAT(problems[0].names, ElementsAre("rank2", "rank3"));
  EXPECT_EQ(problems[1].text, "rank 3 of 4 is missing");
}

TEST(JobCheck, WhoDiffersFromMostIsNamed) {
  auto job = good_job();
  job[2].resolution->hosts = {"n1", "n3"};
  EXPECT_THAT(texts(job), ElementsAre("rank2 has hosts n[1,3], 3 others have n[1-2]"));
  job[2].resolution->hosts = {"n1.cluster", "n2.cluster"};
  EXPECT_THAT(texts(job), IsEmpty());
  job = good_job();
  job[0].resolution->master_port = 20001;
  EXPECT_THAT(texts(job), ElementsAre("rank0 has master n1:20001, 3 others have n1:20000"));
  job = good_job();
  job[3].resolution->job_id.reset();
  EXPECT_THAT(texts(job), ElementsAre("rank3 has job_id unknown, 3 others have 7"));
  // mpirun over ssh: only the ranks on its own host have the job's variables.
  for (ReportedRank& rank : job) rank.resolution->launcher = "openmpi";
  EXPECT_THAT(texts(job), IsEmpty());
  job[2].resolution->job_id = "8";
  EXPECT_THAT(texts(job), ElementsAre("rank2 has job_id 8, 2 others have 7"));
  // Grid Engine's PE_HOSTFILE is on the first host only, but `hpcboot run` passes its name to all.
  job = good_job();
  for (ReportedRank& rank : job) rank.resolution->launcher = "explicit";
  job[2].resolution->hosts.clear();
  EXPECT_THAT(texts(job), IsEmpty());
  job = good_job();
  job[2].resolution->hosts.clear();
  EXPECT_THAT(texts(job), ElementsAre("rank2 has hosts unknown, 3 others have n[1-2]"));
  job = good_job();
  job[1].resolution->launcher = "openmpi";
  EXPECT_THAT(texts(job), ElementsAre("rank1 has launcher openmpi, 3 others have slurm"));
}

TEST(JobCheck, LocalRanksOfAHost) {
  auto job = good_job();
  job[3].resolution->placement.local_rank = 0;
  EXPECT_THAT(texts(job), ElementsAre("host n2 has local ranks 0,0, not 0 to 1: rank2, rank3"));
  job = good_job();
  job[0].resolution->placement.local_rank = 2;
  EXPECT_THAT(texts(job), ElementsAre("host n1 has local ranks 1-2, not 0 to 1: rank0, rank1"));
  job = good_job();
  job[0].resolution->placement.local_size = job[1].resolution->placement.local_size = 3;
  EXPECT_THAT(texts(job), ElementsAre("host n1 has local_size 3 but 2 ranks: rank0, rank1"));
}

TEST(JobCheck, NodeRanks) {
  auto job = good_job();
  job[2].resolution->placement.node_rank = job[3].resolution->placement.node_rank = 0;
  EXPECT_THAT(texts(job), ElementsAre("hosts n1 and n2 both have node_rank 0"));
  job = good_job();
  job[2].resolution->placement.node_rank = 0;
  EXPECT_THAT(texts(job), testing::Contains("host n2 has node_rank 0 and 1: rank2, rank3"));
}

TEST(JobCheck, ProcessesThatEachStandAlone) {
  auto job = good_job();
  for (ReportedRank& rank : job) {
    rank.resolution->placement = {};
    rank.resolution->launcher = "single";
  }
  EXPECT_THAT(texts(job),
              ElementsAre("4 processes each run alone as rank 0 of 1: no launcher placed them"));
  job.resize(1);
  EXPECT_THAT(texts(job), IsEmpty());
}

}  // namespace
}  // namespace hpcboot
