#include "hpcboot/allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(SlurmAllocation, ReadsJobAndHosts) {
  const auto job =
      read_allocation(Env::parse("SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-2],gpu7\nSLURM_TASKS_PER_"
                                 "NODE=2(x2),1\nSLURM_NTASKS=5\n"));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->scheduler, "slurm");
  EXPECT_EQ(job->job_id, "7");
  EXPECT_THAT(job->hosts, ElementsAre("n1", "n2", "gpu7"));
  EXPECT_THAT(job->slots, ElementsAre(2, 2, 1));
  EXPECT_EQ(job->num_tasks, 5);
}

TEST(SlurmAllocation, ReadsTheOlderNames) {
  const auto job = read_allocation(Env::parse("SLURM_JOBID=7\nSLURM_NODELIST=n1\n"));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->job_variable, "SLURM_JOBID");
  EXPECT_EQ(job->hosts_variable, "SLURM_NODELIST");
}

TEST(SlurmAllocation, CountsOfAStepAreNotTheJobs) {
  // Inside the step that starts mpirun's daemon, SLURM_TASKS_PER_NODE is the daemon's.
  const auto job = read_allocation(
      Env::parse("SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_TASKS_PER_NODE=1\n"));
  EXPECT_THAT(job->slots, IsEmpty());
}

TEST(SlurmAllocation, IdentityTellsRunsApart) {
  const auto identity = [](const char* more) {
    return read_allocation(Env::parse(std::string("SLURM_JOB_ID=7\n") + more))->identity;
  };
  EXPECT_NE(identity(""), identity("SLURM_RESTART_COUNT=1\n"));
  EXPECT_NE(identity("SLURM_ARRAY_JOB_ID=7\nSLURM_ARRAY_TASK_ID=1\n"),
            identity("SLURM_ARRAY_JOB_ID=7\nSLURM_ARRAY_TASK_ID=2\n"));
}

TEST(SlurmAllocation, JobIdsHave32Bits) {
  EXPECT_EQ(read_allocation(Env::parse("SLURM_JOB_ID=4294967295\n"))->job_id, "4294967295");
}

TEST(SlurmAllocation, GarbledValuesAreErrors) {
  expect_error(
      ErrorCode::malformed_value, [] { read_allocation(Env::parse("SLURM_JOB_ID=7x\n")); },
      "SLURM_JOB_ID");
  expect_error(
      ErrorCode::malformed_value, [] { read_allocation(Env::parse("SLURM_JOB_ID=4294967296\n")); },
      "SLURM_JOB_ID", "4294967295");
  expect_error(ErrorCode::malformed_hostlist,
               [] { read_allocation(Env::parse("SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-\n")); });
}

TEST(Allocation, NoneOutsideAJob) {
  EXPECT_FALSE(read_allocation(Env::parse("PATH=/bin\nSLURM_CONF=/etc/slurm.conf\n")));
}

// spank_pbs sets PBS_JOBID in Slurm jobs.
TEST(Allocation, PbsJobIdBesideSlurmIsSlurm) {
  EXPECT_EQ(read_allocation(Env::parse("SLURM_JOB_ID=7\nPBS_JOBID=7\n"))->scheduler, "slurm");
  EXPECT_EQ(
      read_allocation(Env::parse("SLURM_JOB_ID=7\nPBS_JOBID=7.pbs\nPBS_ENVIRONMENT=PBS_BATCH\n"))
          ->scheduler,
      "pbs");
  EXPECT_EQ(read_allocation(Env::parse("PBS_JOBID=7\n"))->scheduler, "pbs");
}

TEST(Nodefile, RepeatedHostsAreSlots) {
  const Nodefile nodefile = parse_nodefile("n1\nn2.cluster\n\nn1\r\n n1 \nn3", "f");
  EXPECT_THAT(nodefile.hosts, ElementsAre("n1", "n2.cluster", "n3"));
  EXPECT_THAT(nodefile.slots, ElementsAre(3, 1, 1));
  EXPECT_THAT(parse_nodefile("", "f").hosts, IsEmpty());
}

TEST(Nodefile, WhatIsNoHostIsNamedWithItsLine) {
  expect_error(
      ErrorCode::malformed_file, [] { parse_nodefile("n1\nn2 slots=4\n", "/tmp/hosts"); }, "line 2",
      "/tmp/hosts", "n2 slots=4");
}

class PbsAllocation : public testing::Test {
 protected:
  PbsAllocation()
      : path_(testing::TempDir() + "hpcboot_nodefile_" +
              std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path_) << "n1\nn1\nn2\nn2\n";
  }
  ~PbsAllocation() override { std::remove(path_.c_str()); }

  std::string path_;
};

TEST_F(PbsAllocation, ReadsTheNodefileOfTheEnvironment) {
  const auto job = read_allocation(
      Env::parse("PBS_JOBID=20[2].pbs\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NODEFILE=" + path_ + "\n"));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->job_id, "20[2].pbs");
  EXPECT_THAT(job->hosts, ElementsAre("n1", "n2"));
  EXPECT_THAT(job->slots, ElementsAre(2, 2));
  EXPECT_EQ(job->num_tasks, 4);
}

TEST_F(PbsAllocation, AForeignEnvironmentReadsOnlyTheNodefileThatIsGiven) {
  const Env env = Env::parse("PBS_JOBID=3.pbs\nPBS_NODEFILE=" + path_ + "\n");
  AllocationOptions foreign;
  foreign.read_files = false;
  EXPECT_THAT(read_allocation(env, foreign)->hosts, IsEmpty());
  EXPECT_EQ(read_allocation(env, foreign)->unreadable_file, "");
  foreign.nodefile = path_;
  EXPECT_THAT(read_allocation(env, foreign)->hosts, ElementsAre("n1", "n2"));
}

TEST_F(PbsAllocation, AMissingNodefileIsNotedAndAMissingGivenOneIsAnError) {
  // On the other nodes of a job, the variable names a missing file.
  const Env env = Env::parse("PBS_JOBID=3.pbs\nPBS_NODEFILE=/nowhere/3.pbs\n");
  EXPECT_EQ(read_allocation(env)->unreadable_file, "/nowhere/3.pbs");
  AllocationOptions given;
  given.nodefile = "/nowhere/else";
  expect_error(
      ErrorCode::unreadable_file, [&] { read_allocation(env, given); }, "/nowhere/else");
}

}  // namespace
}  // namespace hpcboot
