#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// The meaning of Slurm's variables, form by form. Whole captured environments are in golden/env.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

const std::string kJob = "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\n";
const std::string kTask = kJob +
                          "SLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_NODEID=1\nSLURM_"
                          "STEP_NUM_TASKS=4\nSLURM_STEP_NUM_NODES=2\n"
                          "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=2(x2)\nSLURM_"
                          "GTIDS=2,3\nSLURMD_NODENAME=n2\n";

Resolution of(const std::string& dump) {
  return resolve(Env::parse(dump), Facts{});
}

TEST(Slurm, ATaskOfAStep) {
  const Resolution r = of(kTask);
  EXPECT_EQ(r.launcher, "slurm");
  EXPECT_EQ(r.placement.rank, 3);
  EXPECT_EQ(r.placement.world_size, 4);
  EXPECT_EQ(r.placement.local_rank, 1);
  EXPECT_EQ(r.placement.local_size, 2);
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.placement.num_nodes, 2);
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  EXPECT_EQ(r.master_addr, "n1");
  EXPECT_EQ(r.provenance.at("rank").variable, "SLURM_PROCID");
  EXPECT_EQ(r.provenance.at("master_addr").variable, "SLURM_STEP_NODELIST");
}

TEST(Slurm, StepIdsThatAreNoStepsGiveNoRank) {
  // -5 and 4294967290 are what newer versions print for the batch and the interactive step:
  // Lightning#20776, PR#21712, jax#30073.
  for (const char* step :
       {"", "SLURM_STEP_ID=-5\n", "SLURM_STEP_ID=4294967291\n", "SLURM_STEP_ID=4294967290\n",
        "SLURM_STEPID=4294967292\n", "SLURM_STEP_ID=4294967280\n"}) {
    const Resolution r = of(kJob + "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n" + step);
    EXPECT_EQ(r.launcher, "single") << step;
    EXPECT_EQ(r.scheduler, "slurm");
    EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
    EXPECT_EQ(r.placement.num_nodes, 1);
    ASSERT_EQ(r.hints.size(), 1U);
    EXPECT_NE(r.hints[0].find("4 tasks"), std::string::npos);
    EXPECT_NE(r.hints[0].find("srun"), std::string::npos);
  }
  EXPECT_EQ(
      of("SLURM_STEP_ID=4294967279\nSLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_STEP_NUM_TASKS=1\n")
          .launcher,
      "slurm");
}

// jax#30073: an ssh session on a node of the job has some of its variables.
TEST(Slurm, PartsOfAnAllocationAreNoTask) {
  EXPECT_EQ(of("SLURM_JOB_ID=5\nSLURM_CONF=/etc/slurm.conf\n").launcher, "single");
}

TEST(Slurm, WithoutAStepIdAnotherStepVariableIsNotTakenForABatchScript) {
  expect_error(
      ErrorCode::missing_variable,
      [] { of("SLURM_JOB_ID=5\nSLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_STEP_NUM_TASKS=4\n"); },
      "SLURM_STEP_ID");
  expect_error(
      ErrorCode::missing_variable, [] { of("SLURM_JOB_ID=5\nSLURM_PROCID=2\nSLURM_LOCALID=0\n"); },
      "SLURM_STEP_ID");
}

TEST(Slurm, AStepSmallerThanItsJob) {
  // srun --preserve-env leaves SLURM_NTASKS and SLURM_TASKS_PER_NODE at the job's values.
  const Resolution r =
      of("SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\nSLURM_TASKS_PER_NODE=2(x2)"
         "\nSLURM_STEP_ID=3\n"
         "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=1\nSLURM_STEP_NUM_"
         "NODES=1\n"
         "SLURM_STEP_NODELIST=n2\nSLURM_STEP_TASKS_PER_NODE=1\n");
  EXPECT_EQ(r.placement.world_size, 1);
  EXPECT_EQ(r.placement.num_nodes, 1);
  EXPECT_THAT(r.hosts, ElementsAre("n2"));
  EXPECT_EQ(r.master_addr, "n2");
}

TEST(Slurm, CompanionsFillWhatIsMissing) {
  const auto without = [](const std::string& name) {
    std::string dump = "\n" + kTask;
    const std::size_t begin = dump.find("\n" + name + "=");
    dump.erase(begin, dump.find('\n', begin + 1) - begin);
    return of(dump);
  };
  EXPECT_EQ(without("SLURM_STEP_NUM_TASKS").placement.world_size, 4);
  EXPECT_EQ(without("SLURM_LOCALID").placement.local_rank, 1);
  EXPECT_EQ(without("SLURM_LOCALID").provenance.at("local_rank").variable, "SLURM_GTIDS");
  EXPECT_EQ(without("SLURM_NODEID").placement.node_rank, 1);
  EXPECT_EQ(without("SLURM_STEP_NUM_NODES").placement.num_nodes, 2);
  EXPECT_EQ(without("SLURM_STEP_TASKS_PER_NODE").placement.local_size, 2);
  EXPECT_EQ(without("SLURM_JOB_ID").scheduler, std::nullopt);
}

TEST(Slurm, FactsThatContradictEachOtherAreErrors) {
  const auto with = [](const std::string& change) { return kTask + change; };  // a later line wins
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_STEP_NUM_TASKS=3\n")); },
      "SLURM_STEP_NUM_TASKS=3");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_LOCALID=0\n")); }, "SLURM_LOCALID=0",
      "SLURM_GTIDS");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_NODEID=2\n")); }, "SLURM_NODEID=2");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_NODEID=2\nSLURMD_NODENAME=\n")); },
      "SLURM_NODEID gives node_rank=2 in a step of 2 nodes");
  for (const char* list : {"n[0-2]", "n2"}) {
    expect_error(
        ErrorCode::inconsistent_placement,
        [&] { of(with("SLURM_STEP_NODELIST=" + std::string(list) + "\n")); },
        "SLURM_STEP_NUM_NODES=2", list);
  }
  // Left over from the step that called sbatch.
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_STEP_NODELIST=n[7-8]\n")); },
      "SLURMD_NODENAME=n2", "n[7-8]");
  for (const char* ranks : {"SLURM_GTIDS=1,3,9\n", "SLURM_GTIDS=1,3,3\n", "SLURM_GTIDS=3\n"}) {
    expect_error(
        ErrorCode::inconsistent_placement,
        [&] { of(with(std::string("SLURM_LOCALID=\n") + ranks)); }, "SLURM_GTIDS");
  }
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(with("SLURM_PROCID=9\n")); }, "SLURM_PROCID=9");
  expect_error(
      ErrorCode::malformed_value, [&] { of(with("SLURM_STEP_ID=0x\n")); }, "SLURM_STEP_ID");
  // A batch or interactive step has one task, of rank 0.
  for (const char* task : {"SLURM_PROCID=1\n", "SLURM_PROCID=0\nSLURM_STEP_NUM_TASKS=2\n"}) {
    for (const char* special : {"4294967291", "4294967290"}) {
      expect_error(
          ErrorCode::inconsistent_placement,
          [&] { of("SLURM_JOB_ID=5\nSLURM_STEP_ID=" + std::string(special) + "\n" + task); },
          "SLURM_STEP_ID");
    }
  }
  // A step's tasks with an id that is not a step's are damage, not a batch script: never rank 0 of
  // 1.
  for (const char* damage :
       {"SLURM_STEP_ID=-7\n", "SLURM_STEP_ID=4294967291\n", "SLURM_STEPID=1\n"}) {
    expect_error(
        ErrorCode::inconsistent_placement, [&] { of(with(damage)); }, "SLURM_STEP_ID");
  }
}

// Lightning#17228: with SLURM_HOSTFILE or -m arbitrary the node list's first host is not rank 0's.
TEST(Slurm, ArbitraryDistributionNamesRankZeroItself) {
  EXPECT_EQ(of(kTask + "SLURM_ARBITRARY_NODELIST=n2,n1,n1,n2\n").master_addr, "n2");
}

// sbatch -m arbitrary leaves it in the environment of all steps.
TEST(Slurm, AListOfArbitraryHostsBelongsOnlyToStepsOfThatDistribution) {
  EXPECT_EQ(of(kTask + "SLURM_DISTRIBUTION=block\nSLURM_ARBITRARY_NODELIST=n2,n1\n").master_addr,
            "n1");
}

// kTask is rank 3 of 4, on n2.
TEST(Slurm, AListOfArbitraryHostsThatDoesNotFitTheTaskIsAnError) {
  for (const char* list : {"n2,n1,n2,n1", "n2,n1,n2", "n2,n1,n1,n2,n2"}) {
    expect_error(
        ErrorCode::inconsistent_placement,
        [&] { of(kTask + "SLURM_ARBITRARY_NODELIST=" + list + "\n"); }, list, "SLURMD_NODENAME=n2");
  }
}

// Seen with 22.05: components are numbered in command-line order, but the list is sorted.
TEST(Slurm, ComponentsOrderTheNodesOfAHeterogeneousStep) {
  const std::string het =
      "SLURM_JOB_ID=1\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_JOB_NODELIST_PACK_GROUP_0=n2\n"
      "SLURM_JOB_NODELIST_PACK_GROUP_1=n1\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
      "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=3\nSLURM_STEP_NUM_NODES=2\n"
      "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=2,1\nSLURM_GTIDS=0\n"
      "SLURMD_NODENAME=n2\n";
  for (const char* size : {"SLURM_HET_SIZE=2\n", ""}) {
    const Resolution r = of(het + size);
    EXPECT_EQ(r.placement.local_size, 1);
    EXPECT_THAT(r.hosts, ElementsAre("n2", "n1"));
    EXPECT_EQ(r.master_addr, "n2");
  }
  // The numbers of tasks are in the order of the list.
  EXPECT_EQ(of(het + "SLURM_HET_SIZE=2\nSLURM_GTIDS=\n").placement.local_size, 1);
  // Without a component's list, the order is lost too.
  const Resolution r = of(het + "SLURM_HET_SIZE=2\nSLURM_JOB_NODELIST_PACK_GROUP_1=\n");
  EXPECT_THAT(r.hosts, testing::IsEmpty());
  EXPECT_EQ(r.master_addr, std::nullopt);
}

// The sorted list does not show which of its two places is meant.
TEST(Slurm, AHostInTwoComponentsLeavesTheOrderOfNodesOpen) {
  const Resolution r =
      of("SLURM_JOB_ID=1\nSLURM_HET_SIZE=2\nSLURM_JOB_NODELIST_HET_GROUP_0=n1\n"
         "SLURM_JOB_NODELIST_HET_GROUP_1=n1\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
         "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=3\nSLURM_STEP_NUM_NODES=2\n"
         "SLURM_STEP_NODELIST=n1,n1\nSLURM_GTIDS=0\nSLURMD_NODENAME=n1\n");
  EXPECT_THAT(r.hosts, testing::IsEmpty());
  EXPECT_EQ(r.master_addr, std::nullopt);
}

TEST(Slurm, ANodeNameThatIsNotItsNodeIdsIsAnError) {
  expect_error(
      ErrorCode::inconsistent_placement, [] { of(kTask + "SLURMD_NODENAME=n1\n"); },
      "SLURM_NODEID=1", "SLURMD_NODENAME=n1");
}

TEST(Slurm, TheNodeMapOfPmixIsBelievedForItsOwnStepOnly) {
  const std::string mapping = "SLURM_PMIX_MAPPING_SERV=(vector,(0,1,3),(1,1,1))\n";
  expect_error(
      ErrorCode::inconsistent_placement,
      [&] { of(kTask + mapping + "PMIX_NAMESPACE=slurm.pmix.5.0\nPMIX_RANK=3\n"); },
      "SLURM_PMIX_MAPPING_SERV", "SLURM_LOCALID");
  // Inherited by an inner step started without PMIx.
  EXPECT_EQ(of(kTask + mapping + "PMIX_NAMESPACE=slurm.pmix.5.7\n").placement.local_rank, 1);
}

// psslurm's srun --mpi=pspmix; ParaStation's mpiexec in such a step names its PMIx alike.
TEST(Slurm, PsslurmServesPmixUnderANameOfItsOwn) {
  const std::string task = kTask + "PMIX_NAMESPACE=pspmix_[1:4711]\nPMIX_RANK=3\nPS_JOB_RANK=3\n";
  for (const char* size : {"", "PS_JOB_SIZE=4\n"}) {
    const Resolution r = of(task + size);
    EXPECT_EQ(r.launcher, "slurm") << size;
    EXPECT_EQ(r.placement.rank, 3);
    EXPECT_EQ(r.placement.world_size, 4);
  }
  for (const char* other : {"PS_JOB_SIZE=2\n", "PMIX_RANK=1\n", "PMIX_NAMESPACE=prterun-n1-7@1\n"})
    expect_error(
        ErrorCode::needs_exchange, [&] { of(task + other); }, "pmix");
}

TEST(Slurm, ReservedPortsAreUsed) {
  EXPECT_EQ(of(kTask + "SLURM_STEP_RESV_PORTS=12000-12003\n").master_port, 12000);
  // Of mpi/cray_shasta, which takes the first for its PMI.
  const std::string cray = kTask + "PMI_CONTROL_PORT=12000,12001\nSLURM_STEP_RESV_PORTS=";
  EXPECT_EQ(of(cray + "12000-12003\n").master_port, 12002);
  EXPECT_EQ(of(cray + "12000,12010\n").master_port, 12010);
  EXPECT_EQ(of(cray + "12000\n").master_port, of(kTask).master_port);
  expect_error(
      ErrorCode::malformed_value, [] { of(kTask + "SLURM_STEP_RESV_PORTS=x\n"); },
      "SLURM_STEP_RESV_PORTS");
}

TEST(Slurm, PortsDifferBetweenStepsJobsAndRestarts) {
  const int port = *of(kTask).master_port;
  EXPECT_NE(port, *of(kTask + "SLURM_STEP_ID=1\n").master_port);
  EXPECT_NE(port, *of(kTask + "SLURM_JOB_ID=6\n").master_port);
  EXPECT_NE(port, *of(kTask + "SLURM_RESTART_COUNT=1\n").master_port);
  EXPECT_EQ(port, *of(kTask + "SLURM_PROCID=2\nSLURM_LOCALID=0\n").master_port);
}

}  // namespace
}  // namespace hpcboot
