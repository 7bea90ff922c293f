#include "hpcboot/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// Several launchers and an allocation: which launcher wins, and what fills the gaps.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kOpenmpi =
    "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\nOMPI_COMM_WORLD_"
    "LOCAL_SIZE=2\n";
const std::string kHydra =
    "PMI_RANK=2\nPMI_SIZE=3\nPMI_FD=9\nMPI_LOCALRANKID=2\nMPI_LOCALNRANKS=3\n";
const std::string kDaemonStep =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
    "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=1\nSLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n2\n"
    "SLURM_STEP_TASKS_PER_NODE=1\nSLURMD_NODENAME=n2\n";
const std::string kTorchrun =
    "TORCHELASTIC_RUN_ID=r\nRANK=5\nWORLD_SIZE=8\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=4\nGROUP_RANK=1\n"
    "GROUP_WORLD_SIZE=2\nMASTER_ADDR=n1\nMASTER_PORT=29400\n";

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

Facts on(const char* hostname) {
  Facts facts;
  facts.hostname = hostname;
  return facts;
}

TEST(Facts, AStepsTaskKnowsItselfByProcessAndHost) {
  const auto is_task = [](const std::string& pid, const std::string& node) {
    return Facts::of_this_process(Env({{"SLURM_TASK_PID", pid}, {"SLURMD_NODENAME", node}}))
        .is_slurm_task;
  };
  const std::string self = std::to_string(getpid());
  const std::string here = *Facts::of_this_process(Env()).hostname;
  EXPECT_EQ(is_task(self, here), true);
  EXPECT_EQ(is_task(self, "not-" + here), false);
  EXPECT_EQ(is_task(self + "1", here), false);
  EXPECT_EQ(Facts::of_this_process(Env()).is_slurm_task, std::nullopt);
}

TEST(Facts, TheTableOfPalsIsReadWhereItLies) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "apinfo").string();
  test::write_text(path, "bytes");
  EXPECT_EQ(Facts::of_this_process(Env({{"PALS_APINFO", path}})).apinfo, "bytes");
  EXPECT_EQ(Facts::of_this_process(Env({{"PALS_APINFO", path + "x"}})).apinfo, std::nullopt);
}

TEST(Resolve, ALaptopIsSingle) {
  const Resolution r = of("PATH=/bin\n", on("laptop"));
  EXPECT_EQ(r.launcher, "single");
  EXPECT_EQ(r.placement.world_size, 1);
  EXPECT_THAT(r.hosts, ElementsAre("laptop"));
  EXPECT_EQ(r.master_addr, "127.0.0.1");
  EXPECT_EQ(r.scheduler, std::nullopt);
  EXPECT_THAT(r.hints, IsEmpty());
}

// Open MPI in a batch job: srun starts its daemon, and the ranks inherit the daemon's step.
TEST(Resolve, MpirunWinsOverTheStepThatStartedItsDaemon) {
  const Resolution r = of(kOpenmpi + kDaemonStep);
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_EQ(r.placement.rank, 3);
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.provenance.at("node_rank").source, "allocation");
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  ASSERT_EQ(r.other_sources.size(), 1U);
  EXPECT_EQ(r.other_sources[0].source, "slurm");
  EXPECT_FALSE(r.other_sources[0].agrees);
  EXPECT_NE(r.other_sources[0].note.find("rank=0 world_size=1"), std::string::npos);
}

// Lightning#18618, #18466: torchrun inside srun.
TEST(Resolve, TorchrunWinsOverTheStepThatStartedItsAgent) {
  const Resolution r =
      of(kTorchrun + kDaemonStep +
         "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NUM_TASKS=2\n"
         "SLURM_PROCID=1\nSLURM_NODEID=1\nSLURM_STEP_TASKS_PER_NODE=1(x2)\n");
  EXPECT_EQ(r.launcher, "torchrun");
  EXPECT_EQ(r.placement.rank, 5);
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
  EXPECT_EQ(r.master_port, 29400);
}

// enroot injects RANK, LOCAL_RANK and WORLD_SIZE from Slurm: RANK does not prove torchrun.
TEST(Resolve, InjectedRanksAreAWitness) {
  const Resolution r = of(kDaemonStep + "RANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\n");
  EXPECT_EQ(r.launcher, "slurm");
  ASSERT_EQ(r.other_sources.size(), 1U);
  EXPECT_TRUE(r.other_sources[0].agrees);
}

TEST(Resolve, SrunInsideMpirunIsToldByTheNamespace) {
  const Resolution r = of(kOpenmpi + kDaemonStep + "PMIX_NAMESPACE=slurm.pmix.5.0\nPMIX_RANK=0\n");
  EXPECT_EQ(r.launcher, "slurm");
  EXPECT_EQ(r.placement.world_size, 1);
}

// Without PMIx, no variable distinguishes a step started by a rank of mpirun from the step that
// started mpirun's daemon; the task's process id does.
TEST(Resolve, SrunInsideARankIsToldByTheTasksProcess) {
  Facts task = on("n2");
  task.is_slurm_task = true;
  Facts child = on("n2");
  child.is_slurm_task = false;
  for (const std::string& outer : {kOpenmpi + "PMIX_NAMESPACE=7\nPMIX_RANK=3\n", kHydra}) {
    const Resolution r = of(outer + kDaemonStep, task);
    EXPECT_EQ(r.launcher, "slurm");
    EXPECT_EQ(r.placement.world_size, 1);
    EXPECT_NE(of(outer + kDaemonStep, child).launcher, "slurm");
    EXPECT_NE(of(outer + kDaemonStep).launcher, "slurm");
  }
}

TEST(Resolve, PrterunInsideAStepIsToldByTheNamespace) {
  expect_error(
      ErrorCode::needs_exchange,
      [] { of(kDaemonStep + "PMIX_NAMESPACE=prterun-n2-77@1\nPMIX_RANK=3\n"); }, "pmix");
}

TEST(Resolve, TwoLaunchersThatDisagreeAreToldApartByFacts) {
  Facts open = on("h");
  open.pmi_fd_is_open_socket = true;
  EXPECT_EQ(of(kOpenmpi + kHydra, open).launcher, "hydra");
  Facts closed = on("h");
  closed.pmi_fd_is_open_socket = false;
  EXPECT_EQ(of(kOpenmpi + kHydra, closed).launcher, "openmpi");
  EXPECT_EQ(of(kOpenmpi + kHydra + "PMIX_NAMESPACE=1\nPMIX_RANK=3\n").launcher, "openmpi");
}

TEST(Resolve, TwoLaunchersThatNothingTellsApartAreAmbiguous) {
  expect_error(
      ErrorCode::ambiguous_environment, [] { of(kOpenmpi + kHydra); },
      "openmpi reports rank=3 world_size=4", "hydra reports rank=2 world_size=3",
      "HPCBOOT_METHODS=hydra");
  EXPECT_EQ(of(kOpenmpi + kHydra + "HPCBOOT_METHODS=hydra\n").placement.rank, 2);
}

TEST(Resolve, MethodsAreTheUsersChoice) {
  EXPECT_EQ(of(kOpenmpi + kDaemonStep + "HPCBOOT_METHODS=slurm,openmpi\n").launcher, "slurm");
  EXPECT_EQ(of(kOpenmpi + kDaemonStep + "HPCBOOT_METHODS= torchrun  single \n").launcher, "single");
  expect_error(
      ErrorCode::unknown_method, [] { of("HPCBOOT_METHODS=slurm\n"); },
      "none of these placed this process");
  expect_error(
      ErrorCode::unknown_method, [] { of("HPCBOOT_METHODS=srun\n"); }, "'srun'", "slurm");
}

TEST(Resolve, ExplainTellsOfEverySourceInOrder) {
  const Resolution r = of(kOpenmpi + kDaemonStep);
  std::vector<std::string> outcomes;
  for (const Attempt& attempt : r.attempts)
    outcomes.push_back(attempt.source + ":" + attempt.outcome);
  EXPECT_THAT(outcomes,
              testing::IsSupersetOf({"torchrun:absent", "openmpi:chosen", "slurm:witness"}));
  EXPECT_LT(std::find(outcomes.begin(), outcomes.end(), "openmpi:chosen"),
            std::find(outcomes.begin(), outcomes.end(), "slurm:witness"));
}

// mpirun in an allocation of two hosts, in all layouts.
struct Shape {
  const char* what;
  int rank, size, local_rank, local_size;
  const char* host;
  std::optional<int> node_rank, num_nodes;
};

TEST(Resolve, AnAllocationCountsOnlyWhereTheSizesConfirmIt) {
  const Shape shapes[] = {
      {"host by host", 3, 4, 1, 2, "n2", 1, 2},
      {"in turn", 3, 4, 1, 2, "n2.cluster", 1, 2},
      {"in turn, rank 1 on the second host", 1, 4, 0, 2, "n2", 1, 2},
      {"all on one of the two hosts", 1, 2, 1, 2, "n2", 0, 1},
      {"one rank in a job of two hosts", 0, 1, 0, 1, "n1", 0, 1},
      {"hosts in another order", 0, 4, 0, 2, "n2", {}, {}},
      {"three hosts' worth", 4, 6, 0, 2, "n1", {}, {}},
      {"uneven", 2, 3, 0, 1, "n2", {}, {}},
      {"a host of another job", 3, 4, 1, 2, "n9", {}, {}},
      {"an unknown host", 3, 4, 1, 2, "", {}, {}},
  };
  for (const Shape& s : shapes) {
    const std::string dump = "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nOMPI_COMM_WORLD_RANK=" +
                             std::to_string(s.rank) +
                             "\nOMPI_COMM_WORLD_SIZE=" + std::to_string(s.size) +
                             "\nOMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(s.local_rank) +
                             "\nOMPI_COMM_WORLD_LOCAL_SIZE=" + std::to_string(s.local_size) + "\n";
    const Resolution r = of(dump, *s.host == '\0' ? Facts{} : on(s.host));
    EXPECT_EQ(r.placement.node_rank, s.node_rank) << s.what;
    EXPECT_EQ(r.placement.num_nodes, s.num_nodes) << s.what;
    if (!s.num_nodes) {
      EXPECT_THAT(r.hosts, IsEmpty()) << s.what;
      EXPECT_EQ(r.master_addr, std::nullopt) << s.what;
      EXPECT_EQ(r.provenance.at("master_addr").source, "exchange") << s.what;
      EXPECT_EQ(r.provenance.at("num_nodes").source, "exchange") << s.what;
    }
  }
}

// Ranks 0 to 3 on n2 n1 n1 n2: ranks 2 and 3 are where a cyclic or block distribution would put
// them, yet rank 0 is not on n1.
TEST(Resolve, AfterARankfileNoHostIsTakenFromTheAllocation) {
  const std::string rank3 = "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\n" + kOpenmpi;
  EXPECT_EQ(of(rank3 + "OMPI_MCA_rmaps_base_mapping_policy=node\n", on("n2")).master_addr, "n1");
  for (const char* variable : {"OMPI_MCA_orte_rankfile=rf\n", "OMPI_MCA_rmaps_rank_file_path=rf\n",
                               "OMPI_MCA_rmaps_base_mapping_policy=seq:OVERSUBSCRIBE\n"}) {
    const Resolution r = of(rank3 + variable, on("n2"));
    EXPECT_EQ(r.placement.rank, 3) << variable;
    EXPECT_EQ(r.placement.num_nodes, std::nullopt) << variable;
    EXPECT_THAT(r.hosts, IsEmpty()) << variable;
    EXPECT_EQ(r.master_addr, std::nullopt) << variable;
  }
}

// PALS was given its hosts in another order: its node 0 is not the allocation's first.
TEST(Resolve, AnAllocationInAnotherOrderConfirmsNothing) {
  const std::string pals =
      "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nPALS_RANKID=0\nPALS_LOCAL_RANKID=0\n"
      "PALS_LOCAL_SIZE=2\nPMI_SIZE=4\nPALS_NODEID=";
  EXPECT_EQ(of(pals + "0\n", on("n1")).placement.num_nodes, 2);
  const Resolution r = of(pals + "0\n", on("n2"));
  EXPECT_EQ(r.placement.num_nodes, std::nullopt);
  EXPECT_THAT(r.hosts, IsEmpty());
}

TEST(Resolve, AsManyHostsAsProcessesHoldOneEach) {
  const Resolution r =
      of("FLUX_TASK_RANK=1\nFLUX_JOB_SIZE=2\nFLUX_TASK_LOCAL_ID=0\nFLUX_JOB_NNODES=2\n");
  EXPECT_EQ(r.placement.local_size, 1);
  EXPECT_EQ(r.provenance.at("local_size").variable, "num_nodes=world_size");
  EXPECT_EQ(r.placement.node_rank, std::nullopt);
}

TEST(Resolve, OneHostHoldsAllProcesses) {
  const Resolution r = of("HPCBOOT_RANK=1\nHPCBOOT_WORLD_SIZE=3\nHPCBOOT_NUM_NODES=1\n");
  EXPECT_EQ(r.placement.local_rank, 1);
  EXPECT_EQ(r.placement.local_size, 3);
  EXPECT_EQ(r.placement.node_rank, 0);
  for (const char* field : {"local_rank", "local_size", "node_rank"})
    EXPECT_EQ(r.provenance.at(field).variable, "num_nodes=1") << field;
}

TEST(Resolve, UnevenHostsAreConfirmedByTheirSlots) {
  const std::string job = "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_TASKS_PER_NODE=2,1\n";
  const Resolution r = of(job +
                              "OMPI_COMM_WORLD_RANK=2\nOMPI_COMM_WORLD_SIZE=3\nOMPI_COMM_WORLD_"
                              "LOCAL_RANK=0\nOMPI_COMM_WORLD_LOCAL_SIZE=1\n",
                          on("n2"));
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.placement.num_nodes, 2);
}

TEST(Resolve, UnevenHostsAreUnknownIfTheLaunchDoesNotFillThem) {
  const auto nodes_of = [](const char* rank, const char* size, const char* local_size,
                           const char* host) {
    return of(std::string("SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-3]\nSLURM_TASKS_PER_NODE=2,4,2\n"
                          "OMPI_COMM_WORLD_LOCAL_RANK=0\nOMPI_COMM_WORLD_RANK=") +
                  rank + "\nOMPI_COMM_WORLD_SIZE=" + size +
                  "\nOMPI_COMM_WORLD_LOCAL_SIZE=" + local_size + "\n",
              on(host))
        .placement.num_nodes;
  };
  EXPECT_EQ(nodes_of("0", "6", "2", "n1"), std::nullopt);  // the others are on n2
  EXPECT_EQ(nodes_of("2", "6", "4", "n2"), std::nullopt);
  EXPECT_EQ(nodes_of("0", "3", "1", "n1"), 3);  // one on each
  EXPECT_EQ(nodes_of("2", "8", "4", "n2"), 3);
  EXPECT_EQ(nodes_of("3", "8", "4", "n2"), std::nullopt);
  EXPECT_EQ(nodes_of("2", "9", "4", "n2"), std::nullopt);
}

TEST(Resolve, ABatchScriptUnderPbsIsSingleAndKnowsItsHosts) {
  ResolveOptions options;
  options.allocation.read_files = false;
  const Resolution r = resolve(Env::parse("PBS_JOBID=3.pbs\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_"
                                          "NODEFILE=/x\nPBS_NODENUM=0\nPBS_TASKNUM=1\n"),
                               Facts{}, options);
  EXPECT_EQ(r.launcher, "single");
  EXPECT_EQ(r.scheduler, "pbs");
  EXPECT_EQ(r.job_id, "3.pbs");
  EXPECT_THAT(r.hosts, IsEmpty());
}

TEST(Resolve, AMissingNodefileIsAnErrorOnlyWhereNothingElseNamesTheHosts) {
  const std::string job = "PBS_JOBID=3.pbs\nPBS_NODEFILE=/nowhere/3.pbs\n";
  expect_error(
      ErrorCode::unreadable_file, [&] { of(job); }, "/nowhere/3.pbs", "--nodefile");
  EXPECT_EQ(of(job + kOpenmpi).launcher, "openmpi");
}

TEST(Resolve, EveryKnownFieldHasAProvenance) {
  const Resolution r = of(kOpenmpi + kDaemonStep + "CUDA_VISIBLE_DEVICES=0,1\n", on("n2"));
  for (const char* field :
       {"rank", "world_size", "local_rank", "local_size", "node_rank", "num_nodes", "master_addr",
        "master_port", "scheduler", "job_id", "hosts", "device"}) {
    EXPECT_EQ(r.provenance.count(field), 1U) << field;
  }
}

}  // namespace
}  // namespace hpcboot
