#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/export.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/resolve.hpp"
#include "support/apinfo_file.hpp"
#include "support/expect_error.hpp"

// Failures reported by users of other tools, one test per thread, named after it
// (github.com/<owner>/<repository>/issues/<number>). Threads that do not depend on the environment
// are omitted: pytorch#173909, #76913 (the store's sockets), #17113, torchx#479, nccl#289 (failing
// ranks), DeepSpeed#1832 (ssh), Lightning#14610 (signals).
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

Facts on(const char* hostname) {
  Facts facts;
  facts.hostname = hostname;
  return facts;
}

Interface interface(const char* name, const char* address, bool ipv6 = false) {
  Interface one;
  one.name = name;
  one.address = address;
  one.ipv6 = ipv6;
  return one;
}

const std::string kJob =
    "SLURM_JOB_ID=5\nSLURM_JOB_NAME=interactive\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\n";
// Rank 3 of 4, the second task on n2.
const std::string kTask =
    kJob +
    "SLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_NODEID=1\nSLURM_STEP_NUM_TASKS=4\n"
    "SLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=2(x2)\n"
    "SLURM_GTIDS=2,3\nSLURMD_NODENAME=n2\n";
const std::string kOpenmpi =
    "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
    "OMPI_COMM_WORLD_LOCAL_SIZE=2\n";
const std::string kPals = "PALS_RANKID=3\nPALS_NODEID=1\nPALS_LOCAL_SIZE=2\nPALS_DEPTH=1\n";

// salloc and srun: the job is named "interactive", which does not describe this process.
TEST(HardCases, Lightning20776_AJobsNameDecidesNothing) {
  EXPECT_EQ(of(kTask).launcher, "slurm");
  EXPECT_EQ(of(kTask + "SLURM_JOB_NAME=bash\n").placement.rank, 3);
  EXPECT_EQ(of(kJob + "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_STEP_ID=-5\n").launcher, "single");
}

TEST(HardCases, Lightning16730_AShellFromSrunPtyIsOneTask) {
  const Resolution r = of(kJob +
                          "SLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n"
                          "SLURM_STEP_NUM_TASKS=1\nSLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n1\n"
                          "SLURM_STEP_TASKS_PER_NODE=1\nSLURM_PTY_PORT=40001\n");
  EXPECT_EQ(r.launcher, "slurm");
  EXPECT_EQ(r.placement.world_size, 1);
  EXPECT_THAT(r.hosts, ElementsAre("n1"));
}

TEST(HardCases, Lightning18618_TorchrunInsideSrun) {
  const Resolution r = of(kTask +
                          "SLURM_PROCID=1\nSLURM_LOCALID=0\nSLURM_STEP_NUM_TASKS=2\n"
                          "SLURM_STEP_TASKS_PER_NODE=1(x2)\nSLURM_GTIDS=1\n"
                          "TORCHELASTIC_RUN_ID=r\nRANK=9\nWORLD_SIZE=16\nLOCAL_RANK=1\n"
                          "LOCAL_WORLD_SIZE=8\nGROUP_RANK=1\nGROUP_WORLD_SIZE=2\nMASTER_ADDR=n1\n"
                          "MASTER_PORT=29400\n");
  EXPECT_EQ(r.launcher, "torchrun");
  EXPECT_EQ(r.placement.rank, 9);
  EXPECT_EQ(r.placement.world_size, 16);
}

// SLURM_NTASKS_PER_NODE is what the user typed; with -n it is a maximum.
TEST(HardCases, Lightning20391_TasksPerNodeAsTypedAreNoFact) {
  const Resolution r = of(
      "SLURM_JOB_ID=5\nSLURM_NTASKS=3\nSLURM_NTASKS_PER_NODE=4\nSLURM_STEP_ID=0\nSLURM_PROCID=2\n"
      "SLURM_LOCALID=0\nSLURM_NODEID=1\nSLURM_STEP_NUM_TASKS=3\nSLURM_STEP_NUM_NODES=2\n"
      "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=2,1\nSLURM_GTIDS=2\n");
  EXPECT_EQ(r.placement.world_size, 3);
  EXPECT_EQ(r.placement.local_size, 1);
}

TEST(HardCases, GptNeox1069_SlurmNtasksIsNotAlwaysSet) {
  EXPECT_EQ(of(kTask + "SLURM_NTASKS=\nSLURM_NPROCS=\n").placement.world_size, 4);
}

TEST(HardCases, Jax30073_AnSshSessionIntoANodeIsNoTask) {
  EXPECT_EQ(of("SLURM_JOB_ID=5\nSLURM_CONF=/etc/slurm.conf\n").launcher, "single");
  EXPECT_EQ(of("SLURM_CONF=/etc/slurm.conf\nSLURM_CLUSTER_NAME=c\n").launcher, "single");
}

// Open MPI 5 sets no OMPI_MCA_orte_hnp_uri, and what it sets is not rank 0's address.
TEST(HardCases, Jax14576_OpenMpi5NeedsNoOrteVariable) {
  const Resolution r = of(kOpenmpi +
                          "PRTE_LAUNCHED=1\nPMIX_NAMESPACE=prterun-n1-77@1\n"
                          "PMIX_RANK=3\nPMIX_SERVER_URI41=prterun-n1-77@0.1;tcp4://x\n");
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_EQ(r.placement.rank, 3);
  EXPECT_EQ(of(kOpenmpi + "OMPI_MCA_orte_hnp_uri=1.0;tcp://10.0.0.9:1\n").master_addr,
            std::nullopt);
}

TEST(HardCases, Ompi13523_SrunWithoutPmixMakesNoSingletons) {
  const Resolution r = of(kTask + "SLURM_MPI_TYPE=none\nOMPI_MCA_plm_slurm_args=--external\n");
  EXPECT_EQ(r.launcher, "slurm");
  EXPECT_EQ(r.placement.world_size, 4);
}

TEST(HardCases, Oumi2010_PmiRankIsNoNodeRank) {
  const Resolution r = of(kTask + "PMI_RANK=3\nPMI_SIZE=4\nPMI_FD=9\nPMI_JOBID=5.0\n");
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.placement.rank, 3);
}

TEST(HardCases, KubeflowTrainer1790_RankMayBeAPods) {
  const std::string pod = "KUBERNETES_SERVICE_HOST=10.96.0.1\nRANK=1\nMASTER_ADDR=job-master-0\n";
  expect_error(
      ErrorCode::missing_variable,
      [&] { of(pod + "WORLD_SIZE=16\nPET_NNODES=2\nPET_NPROC_PER_NODE=8\n"); }, "LOCAL_RANK",
      "PET_NPROC_PER_NODE=8", "torchrun");
  EXPECT_EQ(of(pod + "WORLD_SIZE=2\nPET_NNODES=2\nPET_NPROC_PER_NODE=1\n").placement.local_rank, 0);
}

TEST(HardCases, Lightning13374_WithoutLocalRankNothingIsGuessed) {
  expect_error(
      ErrorCode::missing_variable, [] { of("RANK=1\nWORLD_SIZE=4\n"); }, "LOCAL_RANK");
}

TEST(HardCases, Libmpdataxx461_PmiRankInEveryShellIsNoLaunch) {
  EXPECT_EQ(of("PMI_RANK=0\nPMI_SIZE=1\nPMI_NO_FORK=1\n").launcher, "single");
}

TEST(HardCases, Mace435_OneVisibleDeviceIsDevice0) {
  EXPECT_EQ(of(kTask + "CUDA_VISIBLE_DEVICES=1\n").device, 0);
}

TEST(HardCases, Jax29669_MoreRanksThanDevicesWrapAndSaySo) {
  const Resolution r = of(kTask + "CUDA_VISIBLE_DEVICES=0,1\nSLURM_STEP_NUM_TASKS=8\n" +
                          "SLURM_STEP_TASKS_PER_NODE=4(x2)\nSLURM_PROCID=7\nSLURM_LOCALID=3\n" +
                          "SLURM_GTIDS=4,5,6,7\n");
  EXPECT_EQ(r.device, 1);
  ASSERT_FALSE(r.hints.empty());
  EXPECT_THAT(r.hints.back(), HasSubstr("share 2 devices"));
}

// Aurora in COMPOSITE mode: six devices, twelve ranks; the tool computed index 11.
TEST(HardCases, Ezpz187_NoDeviceBeyondThoseVisible) {
  for (int local = 0; local < 12; ++local) {
    const Resolution r = of("PALS_RANKID=" + std::to_string(local) + "\nPMI_SIZE=12\n" +
                            "PALS_LOCAL_RANKID=" + std::to_string(local) +
                            "\nPALS_LOCAL_SIZE=12\nZE_AFFINITY_MASK=0,1,2,3,4,5\n");
    EXPECT_EQ(r.device, local % 6);
  }
}

TEST(HardCases, Kokkos8889_ALostLocalRankIsNotDevice0) {
  expect_error(
      ErrorCode::missing_variable, [] { of(kPals + "PMI_RANK=3\nPMI_SIZE=4\n"); },
      "PALS_LOCAL_RANKID");
  EXPECT_EQ(of(kPals + "PMI_RANK=3\nPMI_SIZE=4\nPMI_LOCAL_RANK=1\n").placement.local_rank, 1);
  Facts facts;
  facts.apinfo = test::apinfo_file(5, {"x1", "x2"}, {0, 0, 1, 1});
  EXPECT_EQ(of(kPals, facts).placement.local_rank, 1);
}

TEST(HardCases, Warpx6542_MasksOfOneVendorNarrowEachOther) {
  EXPECT_EQ(of(kTask + "ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=1\n").device, 0);
  EXPECT_EQ(of(kTask + "ROCR_VISIBLE_DEVICES=2,3\n").device, 1);
}

// Polaris: all ranks of a node used the same device.
TEST(HardCases, RadicalPilot3022_RanksOfANodeTakeDifferentDevices) {
  std::vector<int> devices;
  for (int local = 0; local < 4; ++local) {
    devices.push_back(*of("PALS_RANKID=" + std::to_string(4 + local) + "\nPALS_LOCAL_RANKID=" +
                          std::to_string(local) + "\nPALS_LOCAL_SIZE=4\nPALS_NODEID=1\nPMI_RANK=" +
                          std::to_string(4 + local) + "\nPMI_SIZE=8\nPMI_LOCAL_RANK=" +
                          std::to_string(local) + "\nCUDA_VISIBLE_DEVICES=0,1,2,3\n")
                           .device);
  }
  EXPECT_THAT(devices, ElementsAre(0, 1, 2, 3));
}

TEST(HardCases, GptOss267_ADeviceFollowsTheLocalRank) {
  EXPECT_EQ(of(kTask + "CUDA_VISIBLE_DEVICES=0,1,2,3\n").device, 1) << "rank 3 is local rank 1";
}

TEST(HardCases, Enroot243_ADerivedPortLiesBelowTheEphemeralRange) {
  for (int job = 1; job < 5000; ++job) {
    const int port = derive_port(std::to_string(job));
    EXPECT_GE(port, 1024);
    EXPECT_LT(port, 32768);
  }
}

// A free port found by one rank is free only on its host, at that time, and unknown to the others.
TEST(HardCases, Pytorch126510_AllRanksDeriveOnePort) {
  EXPECT_EQ(of(kTask).master_port,
            of(kTask + "SLURM_PROCID=2\nSLURM_LOCALID=0\n", on("n2")).master_port);
}

// Cray PMI's own port could not be bound because Cray PMI uses it.
TEST(HardCases, FluxCoral2_323_ThePortOfCrayPmiIsNotOurs) {
  const Resolution r = of(kTask + "PMI_CONTROL_PORT=1371,1372\n");
  EXPECT_NE(r.master_port, 1371);
  EXPECT_GE(*r.master_port, 20000);
}

TEST(HardCases, AwsomeDistributedAi1172_JobsAThousandApartDoNotShareAPort) {
  EXPECT_NE(of(kTask + "SLURM_JOB_ID=1005\n").master_port, of(kTask).master_port);
  EXPECT_NE(of(kTask + "SLURM_JOB_ID=10005\n").master_port, of(kTask).master_port);
}

// Debian resolves a host's own name to 127.0.1.1, so every node took itself for the head node.
TEST(HardCases, Skypilot10333_ANodesPlaceComesFromSlurmAndNoAddressFrom127) {
  Facts facts = on("n2");
  facts.interfaces = {interface("lo", "127.0.0.1"), interface("lo", "127.0.1.1"),
                      interface("eth0", "10.0.0.2")};
  const Resolution r = of(kTask, facts);
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.master_addr, "n1");
  EXPECT_EQ(r.interface_address, "10.0.0.2");
}

// JUWELS: a node's InfiniBand name ends in "i".
TEST(HardCases, Pytorch73656_ANameOfAnotherNetworkIsTheSameHost) {
  EXPECT_EQ(of(kTask + "MASTER_ADDR=n1i\nMASTER_PORT=29500\n").master_addr, "n1i");
  expect_error(ErrorCode::stale_master_addr, [] { of(kTask + "MASTER_ADDR=n10\n"); });
}

TEST(HardCases, Pytorch65992_AnAddressStandsForAnUnresolvableName) {
  Facts facts = on("ip-10-0-0-1");
  facts.interfaces = {interface("eth0", "10.0.0.1")};
  const std::string rank0 = kTask + "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n" +
                            "SLURM_GTIDS=0,1\nSLURMD_NODENAME=n1\n";
  EXPECT_EQ(of(rank0 + "MASTER_ADDR=10.0.0.1\n", facts).master_addr, "10.0.0.1");
  EXPECT_EQ(of(rank0 + "HPCBOOT_MASTER_ADDR=10.9.9.9\n", facts).master_addr, "10.9.9.9");
}

// Gloo matches exact names; NCCL matches prefixes unless the value starts with "=".
TEST(HardCases, AwsDoEks51_GlooAndNcclAreToldOneInterface) {
  Facts facts = on("n2");
  facts.interfaces = {interface("eth1", "10.0.0.2"), interface("eth10", "10.1.0.2")};
  const auto variables = torch_env(of(kTask + "HPCBOOT_INTERFACE=eth1\n", facts), Env());
  EXPECT_THAT(variables, testing::Contains(testing::Pair("NCCL_SOCKET_IFNAME", "=eth1")));
  EXPECT_THAT(variables, testing::Contains(testing::Pair("GLOO_SOCKET_IFNAME", "eth1")));
}

TEST(HardCases, Horovod700_NoBridgeAndNoLoopbackIsChosen) {
  Facts facts = on("n2");
  facts.interfaces = {interface("docker0", "172.17.0.1"), interface("lo", "127.0.0.1"),
                      interface("virbr0", "192.168.122.1"), interface("ens3", "10.0.0.2")};
  EXPECT_EQ(of(kTask, facts).interface, "ens3");
}

TEST(HardCases, Pytorch131691_Ipv4BeforeIpv6AndNeverLinkLocal) {
  Facts facts = on("n2");
  facts.interfaces = {interface("eth0", "fe80::1", true), interface("eth0", "2001:db8::2", true),
                      interface("eth0", "10.0.0.2")};
  EXPECT_EQ(of(kTask, facts).interface_address, "10.0.0.2");
  facts.interfaces->pop_back();
  EXPECT_EQ(of(kTask, facts).interface_address, "2001:db8::2");
}

TEST(HardCases, MegatronBridge3807_TheFirstHostOfEveryFormOfNodelist) {
  const std::pair<const char*, const char*> forms[] = {
      {"n1", "n1"},
      {"n[1-2]", "n1"},
      {"n[02,05-07]", "n02"},
      {"a1,b[2-3]", "a1"},
      {"r[1-2]n[3-4]", "r1n3"},
      {"gpu-a[09-11]-x", "gpu-a09-x"},
      {"n[1-2].site", "n1.site"},
      {"node-0[1-2]", "node-01"},
  };
  for (const auto& [list, first] : forms) EXPECT_EQ(hostlist::first(list), first) << list;
}

TEST(HardCases, Lightning15874_NodesOfDifferentSizeAreLegal) {
  const Resolution r =
      of("SLURM_JOB_ID=5\nSLURM_STEP_ID=0\nSLURM_PROCID=8\nSLURM_LOCALID=0\nSLURM_NODEID=1\n"
         "SLURM_STEP_NUM_TASKS=10\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=a1,b1\n"
         "SLURM_STEP_TASKS_PER_NODE=8,2\nSLURM_GTIDS=8,9\n");
  EXPECT_EQ(r.placement.local_size, 2);
  EXPECT_EQ(r.placement.node_rank, 1);
}

// Each srun of a heterogeneous job on its own component is a separate world with its own master.
TEST(HardCases, NemoSkills336_EveryComponentHasItsOwnMaster) {
  const std::string het =
      "SLURM_JOB_ID=1\nSLURM_HET_SIZE=2\nSLURM_JOB_ID_HET_GROUP_0=1\nSLURM_JOB_ID_HET_GROUP_1=2\n"
      "SLURM_JOB_NODELIST_HET_GROUP_0=n1\nSLURM_JOB_NODELIST_HET_GROUP_1=n[2-3]\n"
      "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n";
  const Resolution first = of(het +
                              "SLURM_STEP_ID=0\nSLURM_STEP_NUM_TASKS=1\nSLURM_STEP_NUM_NODES=1\n"
                              "SLURM_STEP_NODELIST=n1\nSLURM_STEP_TASKS_PER_NODE=1\n");
  const Resolution second = of(het +
                               "SLURM_STEP_ID=1\nSLURM_STEP_NUM_TASKS=3\nSLURM_STEP_NUM_NODES=2\n"
                               "SLURM_STEP_NODELIST=n[2-3]\nSLURM_STEP_TASKS_PER_NODE=2,1\n"
                               "SLURMD_NODENAME=n2\n");
  EXPECT_EQ(first.placement.world_size, 1);
  EXPECT_EQ(second.placement.world_size, 3);
  EXPECT_EQ(second.master_addr, "n2");
  EXPECT_NE(first.master_port, second.master_port);
}

// torchrun assigns ranks as agents join: neither by address nor by SLURM_NODEID.
TEST(HardCases, Pytorch150660_TorchrunsRanksFollowNoHostOrder) {
  const Resolution r =
      of(kTask +
             "SLURM_STEP_NUM_TASKS=2\nSLURM_PROCID=1\nSLURM_LOCALID=0\nSLURM_GTIDS=1\n"
             "SLURM_STEP_TASKS_PER_NODE=1(x2)\nTORCHELASTIC_RUN_ID=r\nRANK=0\n"
             "WORLD_SIZE=8\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=4\nGROUP_RANK=0\n"
             "GROUP_WORLD_SIZE=2\nMASTER_ADDR=n2\nMASTER_PORT=29400\n",
         on("n2"));
  EXPECT_EQ(r.placement.node_rank, 0);
  EXPECT_EQ(r.master_addr, "n2");
}

TEST(HardCases, Lightning15022_ARequeuedArrayTaskIsARunOfItsOwn) {
  const std::string task = kTask + "SLURM_ARRAY_JOB_ID=4\nSLURM_ARRAY_TASK_ID=1\n";
  EXPECT_NE(of(task).master_port, of(task + "SLURM_ARRAY_TASK_ID=2\n").master_port);
  EXPECT_NE(of(task).master_port, of(task + "SLURM_RESTART_COUNT=1\n").master_port);
}

// PBS_NODENUM numbers hosts: two processes of one node took it for their rank.
TEST(HardCases, Hpx6657_PbsPlacesNoProcess) {
  const Resolution r = of(
      "PBS_JOBID=3.pbs\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NODENUM=0\nPBS_TASKNUM=2\nPBS_O_HOST=h\n");
  EXPECT_EQ(r.launcher, "single");
  EXPECT_EQ(r.scheduler, "pbs");
}

// `srun bash -c "RANK=$SLURM_PROCID …"` in double quotes: the batch script's 0 in every task.
TEST(HardCases, MlEngineering_ARankExpandedTooEarlyIsOverruledAndReported) {
  const Resolution r = of(kTask + "RANK=0\nWORLD_SIZE=4\nLOCAL_RANK=0\n");
  EXPECT_EQ(r.placement.rank, 3);
  ASSERT_EQ(r.other_sources.size(), 1U);
  EXPECT_EQ(r.other_sources[0].source, "generic");
  EXPECT_FALSE(r.other_sources[0].agrees);
}

// `#SBATCH --container-image`: enroot's hook numbers the batch script as if it were a task.
TEST(HardCases, Pyxis55_ABatchScriptInAContainerIsNoRank) {
  const std::string script = kJob + "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\nRANK=0\n" +
                             "LOCAL_RANK=0\nMASTER_PORT=61005\n";
  for (const char* step : {"", "SLURM_STEP_ID=4294967290\n"}) {
    EXPECT_EQ(of(script + "WORLD_SIZE=4\n" + step).launcher, "single") << step;
    EXPECT_EQ(of(script + "SLURM_NTASKS=\n" + step).launcher, "single") << "sbatch -N2";
  }
  // What a script set is not the hook's.
  EXPECT_EQ(of(script + "WORLD_SIZE=8\n").launcher, "generic");
  EXPECT_EQ(of(script + "WORLD_SIZE=4\nMASTER_PORT=29500\n").launcher, "generic");
  EXPECT_EQ(of(kTask + "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nMASTER_PORT=61005\n").launcher,
            "slurm");
}

// With -m arbitrary, ranks follow the user's list, which 22.05 does not pass to the tasks.
TEST(HardCases, Lightning17228_TheFirstHostNeedNotBeRankZeros) {
  const std::string task = kTask + "SLURM_DISTRIBUTION=arbitrary\n";
  EXPECT_EQ(of(task).master_addr, std::nullopt);
  EXPECT_EQ(of(task).provenance.at("master_addr").source, "exchange");
  EXPECT_EQ(of(task + "SLURM_ARBITRARY_NODELIST=n2,n1,n1,n2\n").master_addr, "n2");
  // The node map of mpi/pmix also shows it.
  const Resolution r = of(task + "SLURM_GTIDS=0,3\nPMIX_NAMESPACE=slurm.pmix.5.0\nPMIX_RANK=3\n" +
                          "SLURM_PMIX_MAPPING_SERV=(vector,(1,1,1),(0,1,2),(1,1,1))\n");
  EXPECT_EQ(r.master_addr, "n2");
  EXPECT_EQ(r.provenance.at("master_addr").variable, "SLURM_PMIX_MAPPING_SERV");
}

// PMIX_RANK alone: a rank without a size is not rank 0 of 1.
TEST(HardCases, MlperfDeepcam11_ABarePmixRankIsNoPlacement) {
  expect_error(
      ErrorCode::needs_exchange, [] { of("PMIX_RANK=2\nPMIX_NAMESPACE=prterun-h-1@1\n"); },
      "world_size");
}

}  // namespace
}  // namespace hpcboot
