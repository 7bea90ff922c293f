#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/launchers/shipped.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// The described launchers, in addition to their golden cases (tests/golden/env).
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

Resolution of(const std::string& dump) {
  return resolve(Env::parse(dump), Facts{});
}

TEST(Described, AllAreInTheTableWithNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const LaunchSource* source : launch_sources())
    EXPECT_TRUE(names.insert(source->name).second) << source->name;
  for (const LaunchSource& source : kShippedLaunchers) {
    EXPECT_EQ(names.count(source.name), 1U);
    EXPECT_NE(source.description, nullptr);
    EXPECT_TRUE(source.file.empty());
  }
  std::set<std::string_view> jobs;
  for (const Scheduler* scheduler : schedulers())
    EXPECT_TRUE(jobs.insert(scheduler->name).second) << scheduler->name;
}

// HTCondor may have put two nodes of a job on one host.
TEST(Condor, NodesMayShareAHost) {
  expect_error(
      ErrorCode::needs_exchange, [] { of("_CONDOR_PROCNO=1\n_CONDOR_NPROCS=2\n"); }, "condor",
      "local_rank", "HPCBOOT_LOCAL_RANK");
  EXPECT_EQ(of("_CONDOR_PROCNO=0\n_CONDOR_NPROCS=1\n").launcher, "condor");
  // openmpiscript: mpirun on node 0, its ranks on all.
  EXPECT_EQ(of("_CONDOR_PROCNO=1\n_CONDOR_NPROCS=2\nOMPI_COMM_WORLD_RANK=1\n"
               "OMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n")
                .launcher,
            "openmpi");
}

TEST(Ascend, ASizeForProcessesToComeIsNoLaunch) {
  EXPECT_EQ(of("RANK_SIZE=8\nRANK_TABLE_FILE=/t.json\n").launcher, "single");
  expect_error(
      ErrorCode::needs_exchange,
      [] { of("RANK_ID=1\nRANK_SIZE=8\nDEVICE_ID=1\nRANK_TABLE_FILE=/t.json\n"); }, "ascend",
      "local_rank");
  expect_error(
      ErrorCode::missing_variable, [] { of("RANK_ID=1\nRANK_TABLE_FILE=/t.json\n"); }, "RANK_SIZE");
}

TEST(Jax, OutsideOfPodsAHostMayHaveSeveral) {
  const std::string place = "JAX_PROCESS_ID=1\nJAX_NUM_PROCESSES=2\n";
  expect_error(
      ErrorCode::needs_exchange, [&] { of(place); }, "jax", "local_rank");
  EXPECT_EQ(of(place + "KUBERNETES_SERVICE_HOST=10.96.0.1\n").launcher, "jax_trainjob");
}

TEST(AwsBatch, AnotherMainNodeIsNotRank0) {
  const std::string child =
      "AWS_BATCH_JOB_NODE_INDEX=2\nAWS_BATCH_JOB_NUM_NODES=3\n"
      "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=10.0.0.5\nAWS_BATCH_JOB_MAIN_NODE_INDEX=";
  EXPECT_EQ(of(child + "0\n").master_addr, "10.0.0.5");
  EXPECT_EQ(of(child + "1\n").master_addr, std::nullopt);
}

TEST(Skypilot, TorchrunOnItSaysMore) {
  const std::string node = "SKYPILOT_NODE_RANK=1\nSKYPILOT_NUM_NODES=2\n";
  EXPECT_EQ(of(node + "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nTORCHELASTIC_RUN_ID=x\nMASTER_ADDR=a\n"
                      "MASTER_PORT=1\n")
                .launcher,
            "torchrun");
  expect_error(
      ErrorCode::missing_variable, [] { of("SKYPILOT_NODE_RANK=1\n"); }, "SKYPILOT_NUM_NODES");
}

TEST(Volcano, AJobOfOneTask) {
  const std::string pod = "VC_TASK_INDEX=1\nVK_TASK_INDEX=1\nVC_WORKER_NUM=2\n";
  const Resolution r = of(pod + "VC_WORKER_HOSTS=job-worker-0.job,job-worker-1.job\n");
  EXPECT_EQ(r.launcher, "volcano");
  EXPECT_EQ(r.placement.rank, 1);
  EXPECT_EQ(r.placement.world_size, 2);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_EQ(r.master_addr, "job-worker-0.job");
  expect_error(
      ErrorCode::missing_variable, [&] { of(pod + "VC_MASTER_NUM=1\n"); }, "VC_MASTER_NUM",
      "VC_WORKER_NUM", "HPCBOOT_RANK");
  expect_error(
      ErrorCode::missing_variable, [] { of("VC_TASK_INDEX=1\n"); }, "VC_<TASK>_NUM");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(pod + "VC_WORKER_HOSTS=a\n"); },
      "VC_WORKER_HOSTS", "VC_WORKER_NUM");
}

TEST(Oar, AScriptHasItsHosts) {
  const test::TemporaryFolder folder;
  const std::filesystem::path nodefile = folder.path() / "nodes";
  test::write_text(nodefile, "n1\nn1\nn2\nn2\n");
  const Resolution r = of("OAR_JOB_ID=7\nOAR_NODEFILE=" + nodefile.string() + "\n");
  EXPECT_EQ(r.launcher, "single");
  EXPECT_EQ(r.scheduler, "oar");
  EXPECT_EQ(r.job_id, "7");
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  EXPECT_THAT(r.hints, testing::IsEmpty()) << "the lines are cores, not tasks to be started";
}

TEST(Pjm, TheRankIsThePmixServersToComplete) {
  const std::string job = "PJM_JOBID=7\nPJM_MPI_PROC=4\nPJM_NODE=2\n";
  const Resolution script = of(job);
  EXPECT_EQ(script.scheduler, "pjm");
  ASSERT_EQ(script.hints.size(), 1U);
  EXPECT_NE(script.hints[0].find("mpiexec"), std::string::npos);
  // mpiexec -n may start fewer than PJM_MPI_PROC.
  expect_error(
      ErrorCode::needs_exchange, [&] { of(job + "PMIX_RANK=1\nPLE_RANK_ON_NODE=1\n"); }, "pmix");
}

// Ray Train, Lightning and Composer set NODE_RANK; so do scripts, for torchrun.
TEST(Generic, NodeRankCountsWhereTheSizesAgree) {
  const std::string place = "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=2\n";
  Resolution r = of(place + "NODE_RANK=1\n");
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_EQ(r.provenance.at("node_rank").variable, "NODE_RANK");
  r = of(place + "NODE_RANK=0\n");
  EXPECT_EQ(r.placement.node_rank, std::nullopt);
  r = of(place + "NODE_RANK=0\nGROUP_RANK=1\nGROUP_WORLD_SIZE=2\n");
  EXPECT_EQ(r.placement.node_rank, 1);
  r = of("RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nNODE_RANK=1\n");
  EXPECT_EQ(r.placement.node_rank, std::nullopt);
}

}  // namespace
}  // namespace hpcboot
