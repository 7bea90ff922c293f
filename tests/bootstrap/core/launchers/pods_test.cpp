#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Platforms that start one process per pod or container: Kubernetes and SageMaker.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

const std::string kPod = "KUBERNETES_SERVICE_HOST=10.96.0.1\nKUBERNETES_SERVICE_PORT=443\n";
// Training Operator v1: two workers of a job with three pods.
const std::string kPyTorchJob =
    kPod + "RANK=1\nWORLD_SIZE=3\nMASTER_ADDR=job-master-0\nMASTER_PORT=23456\nPET_NNODES=3\n" +
    "PET_NODE_RANK=1\nPET_MASTER_ADDR=job-master-0\nPET_MASTER_PORT=23456\n";
const std::string kTrainJob =
    kPod + "PET_NNODES=2\nPET_NPROC_PER_NODE=1\nPET_NODE_RANK=1\nPET_MASTER_PORT=29400\n" +
    "PET_MASTER_ADDR=job-node-0-0.job\nJOB_COMPLETION_INDEX=1\n";
const std::string kSagemaker =
    "SM_HOSTS=[\"algo-1\",\"algo-2\"]\nSM_CURRENT_HOST=algo-2\nSM_NUM_GPUS=8\n"
    "TRAINING_JOB_NAME=train-7\n";

Resolution of(const std::string& dump, const char* hostname = nullptr) {
  Facts facts;
  if (hostname != nullptr) facts.hostname = hostname;
  return resolve(Env::parse(dump), facts);
}

void expect_one_process_per_host(const Resolution& r, int rank, int world_size) {
  EXPECT_EQ(r.placement.rank, rank);
  EXPECT_EQ(r.placement.world_size, world_size);
  EXPECT_EQ(r.placement.local_rank, 0);
  EXPECT_EQ(r.placement.local_size, 1);
  EXPECT_EQ(r.placement.node_rank, rank);
  EXPECT_EQ(r.placement.num_nodes, world_size);
}

TEST(Kubernetes, OneProcessPerPodIsPlacedByItsPod) {
  for (const char* per_pod : {"", "PET_NPROC_PER_NODE=1\n", "PET_NPROC_PER_NODE=auto\n"}) {
    const Resolution r = of(kPyTorchJob + per_pod);
    EXPECT_EQ(r.launcher, "kubernetes");
    expect_one_process_per_host(r, 1, 3);
    EXPECT_EQ(r.master_addr, "job-master-0");
    EXPECT_EQ(r.master_port, 23456);
  }
}

TEST(Kubernetes, TrainerV2SetsTorchrunsArgumentsAlone) {
  const Resolution r = of(kTrainJob);
  EXPECT_EQ(r.launcher, "kubernetes");
  expect_one_process_per_host(r, 1, 2);
  EXPECT_EQ(r.master_addr, "job-node-0-0.job");
  EXPECT_EQ(r.master_port, 29400);
  EXPECT_EQ(r.provenance.at("master_port").variable, "PET_MASTER_PORT");
  EXPECT_EQ(of(kTrainJob + "PET_NODE_RANK=\n").placement.rank, 1) << "the completion index";
}

TEST(Kubernetes, AWorldOfOneNeedsNoLocalRank) {
  const Resolution r = of(kPod + "RANK=0\nWORLD_SIZE=1\n");
  EXPECT_EQ(r.launcher, "kubernetes");
  expect_one_process_per_host(r, 0, 1);
  EXPECT_EQ(r.provenance.at("local_rank").variable, "WORLD_SIZE");
  EXPECT_EQ(
      of(kPod + "RANK=0\nWORLD_SIZE=1\nMASTER_ADDR=localhost\nMASTER_PORT=1234\n").master_port,
      1234);
  for (const char* doubtful :
       {"WORLD_SIZE=1\n", "RANK=1\nWORLD_SIZE=1\n",
        "RANK=0\nWORLD_SIZE=1\nPET_NPROC_PER_NODE=gpu\n", "RANK=0\nWORLD_SIZE=1\nPET_NNODES=2\n"})
    EXPECT_THROW(of(kPod + doubtful), Error) << doubtful;
}

// Later operators count processes in WORLD_SIZE but number pods in RANK; "auto" may become any
// number.
TEST(Kubernetes, SeveralProcessesPerPodNeedALauncher) {
  for (const std::string& dump :
       {kPyTorchJob + "WORLD_SIZE=12\nPET_NPROC_PER_NODE=4\n", kPyTorchJob + "WORLD_SIZE=12\n",
        kTrainJob + "PET_NPROC_PER_NODE=8\n", kTrainJob + "PET_NPROC_PER_NODE=gpu\n",
        kTrainJob + "PET_NPROC_PER_NODE=\n", kTrainJob + "PET_NNODES=1:4\n",
        kPod + "RANK=1\nWORLD_SIZE=4\n", kPod + "JOB_COMPLETION_INDEX=1\nWORLD_SIZE=4\n"}) {
    expect_error(
        ErrorCode::missing_variable, [&] { of(dump); }, "LOCAL_RANK", "torchrun",
        "PET_NPROC_PER_NODE");
  }
  expect_error(
      ErrorCode::missing_variable, [&] { of(kPod + "JOB_COMPLETION_INDEX=1\n"); },
      "JOB_COMPLETION_INDEX numbers the pods", "torchrun", "PET_NPROC_PER_NODE");
}

TEST(Kubernetes, WhoeverNumbersTheProcessesOfAPodIsRead) {
  const std::string worker = "RANK=9\nWORLD_SIZE=12\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=4\n";
  EXPECT_EQ(of(kPyTorchJob + worker).launcher, "generic");
  const Resolution r = of(kPyTorchJob + worker + "GROUP_RANK=2\nGROUP_WORLD_SIZE=3\n" +
                          "TORCHELASTIC_RUN_ID=r\nMASTER_ADDR=job-master-0\n");
  EXPECT_EQ(r.launcher, "torchrun");
  EXPECT_EQ(r.placement.rank, 9);
  // If LOCAL_RANK is lost, the pod's number does not replace it.
  expect_error(
      ErrorCode::missing_variable, [&] { of(kPyTorchJob + "WORLD_SIZE=12\nLOCAL_WORLD_SIZE=4\n"); },
      "LOCAL_RANK");
}

// The operator sets "localhost" in the first pod, and that pod's name in the others.
TEST(Kubernetes, TheFirstPodKnowsItsOwnName) {
  const std::string first = kPyTorchJob + "RANK=0\nPET_NODE_RANK=0\nMASTER_ADDR=localhost\n" +
                            "PET_MASTER_ADDR=localhost\n";
  EXPECT_EQ(of(first, "job-master-0").master_addr, "job-master-0");
  EXPECT_EQ(of(first, "job-master-0").master_port, 23456);
  EXPECT_EQ(of(first).master_addr, std::nullopt) << "a capture does not have the host's name";
  const std::string alone = first + "WORLD_SIZE=1\nPET_NNODES=1\n";
  EXPECT_EQ(of(alone, "job-master-0").master_addr, "localhost");
  expect_error(
      ErrorCode::stale_master_addr, [] { of(kPyTorchJob + "MASTER_ADDR=localhost\n"); },
      "MASTER_ADDR=localhost");
}

TEST(Kubernetes, ContradictionsAndDamageAreNamed) {
  expect_error(
      ErrorCode::inconsistent_placement, [] { of(kPyTorchJob + "PET_NODE_RANK=2\n"); }, "RANK=1",
      "PET_NODE_RANK=2");
  expect_error(
      ErrorCode::inconsistent_placement,
      [] { of(kPyTorchJob + "PET_NPROC_PER_NODE=1\nWORLD_SIZE=4\n"); }, "WORLD_SIZE=4",
      "PET_NNODES=3");
  for (const char* name :
       {"RANK", "WORLD_SIZE", "PET_NODE_RANK", "PET_NNODES", "PET_MASTER_PORT"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { of(kPyTorchJob + name + "=1x\n"); }, name);
  }
  expect_error(
      ErrorCode::malformed_value, [] { of(kTrainJob + "PET_MASTER_PORT=69582\n"); },
      "PET_MASTER_PORT", "65535");
  expect_error(
      ErrorCode::malformed_value, [] { of(kTrainJob + "PET_NPROC_PER_NODE=many\n"); },
      "PET_NPROC_PER_NODE");
}

TEST(Kubernetes, OutsideAPodTorchrunsArgumentsPlaceNobody) {
  EXPECT_EQ(of("PET_NNODES=2\nPET_NPROC_PER_NODE=1\n").launcher, "single");
  EXPECT_EQ(of(kPod).launcher, "single");
  expect_error(
      ErrorCode::unknown_launcher,
      [] { of("PET_NNODES=2\nPET_NPROC_PER_NODE=1\nPET_NODE_RANK=1\n"); }, "PET_NODE_RANK=1");
}

// It goes into command lines and URLs of other programs.
TEST(Kubernetes, AMasterThatIsNoHostIsRefused) {
  for (const char* master : {"lead:29500", "tcp://lead", "le\x1b[31mad"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { of(kTrainJob + "PET_MASTER_ADDR=" + master + "\n"); },
        "PET_MASTER_ADDR");
    expect_error(
        ErrorCode::malformed_value, [&] { of(kTrainJob + "HPCBOOT_MASTER_ADDR=" + master + "\n"); },
        "HPCBOOT_MASTER_ADDR");
  }
  EXPECT_EQ(of(kTrainJob + "PET_MASTER_ADDR=[fd00::1]\n").master_addr, "fd00::1");
}

// A node's script may export WORLD_SIZE=1 for its single device; the node is still one of two.
TEST(Pods, AWorldSizeWithoutARankNumbersNobody) {
  for (const char* dump :
       {"AWS_BATCH_JOB_NODE_INDEX=1\nAWS_BATCH_JOB_NUM_NODES=2\n",
        "SKYPILOT_NODE_RANK=1\nSKYPILOT_NUM_NODES=2\n", "LWS_WORKER_INDEX=1\nLWS_GROUP_SIZE=2\n",
        "VC_TASK_INDEX=1\nVC_WORKER_NUM=2\n"}) {
    SCOPED_TRACE(dump);
    for (const std::string& cluster : {std::string(), kPod}) {
      for (const char* world_size : {"", "WORLD_SIZE=1\n", "WORLD_SIZE=2\n"}) {
        if (cluster.empty() && world_size == std::string("WORLD_SIZE=2\n")) continue;
        const Resolution r = of(cluster + dump + world_size);
        EXPECT_EQ(r.placement.rank, 1) << world_size;
        EXPECT_EQ(r.placement.world_size, 2) << world_size;
      }
    }
    EXPECT_THROW(of(kPod + dump + "WORLD_SIZE=8\n"), Error) << "of several processes in each pod";
  }
  EXPECT_EQ(of(kSagemaker + "WORLD_SIZE=1\n").placement.world_size, 2);
  expect_error(
      ErrorCode::needs_exchange,
      [] { of("JAX_PROCESS_ID=1\nJAX_NUM_PROCESSES=2\nWORLD_SIZE=1\n"); }, "local");
}

// Another launcher may use the index of an Indexed Job; with its own size, the index is also a
// witness.
TEST(Pods, AnIndexWithASizeContradictsAnothersSize) {
  const std::string other = kPod + "LWS_WORKER_INDEX=1\nLWS_GROUP_SIZE=2\nJOB_COMPLETION_INDEX=1\n";
  EXPECT_EQ(of(other).placement.world_size, 2);
  for (const char* size : {"WORLD_SIZE=3\n", "PET_NNODES=3\n"})
    EXPECT_THROW(of(other + size), Error) << size;
}

TEST(Pods, AnEndpointIsAHostAndPerhapsAPort) {
  const auto master = [](const char* endpoint) {
    const Resolution r = of("JAX_PROCESS_ID=1\nJAX_NUM_PROCESSES=2\n" + kPod +
                            "JAX_COORDINATOR_ADDRESS=" + endpoint + "\n");
    return *r.master_addr + " " + std::to_string(r.master_port.value_or(0));
  };
  EXPECT_EQ(master("n1:80"), "n1 80");
  EXPECT_EQ(master("fd00::1"), "fd00::1 0");
  EXPECT_EQ(master("[fd00::1]:80"), "fd00::1 80");
  for (const char* endpoint : {"http://n1:80", "n1:80:81", "n1:", "n1:0", ":80"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { master(endpoint); }, "JAX_COORDINATOR_ADDRESS");
  }
}

TEST(Sagemaker, OneProcessAHost) {
  const Resolution r = of(kSagemaker);
  EXPECT_EQ(r.launcher, "sagemaker");
  expect_one_process_per_host(r, 1, 2);
  EXPECT_THAT(r.hosts, ElementsAre("algo-1", "algo-2"));
  EXPECT_EQ(r.master_addr, "algo-1");
  EXPECT_NE(r.master_port, of(kSagemaker + "TRAINING_JOB_NAME=train-8\n").master_port);
}

TEST(Sagemaker, TheListOfHostsMayHaveBlanks) {
  const Resolution r = of(kSagemaker + "SM_HOSTS= [ \"algo-1\" ,\t\"algo-2\" ] \n");
  EXPECT_THAT(r.hosts, ElementsAre("algo-1", "algo-2"));
}

TEST(Sagemaker, LaunchersOnTheHostSayMore) {
  EXPECT_EQ(of(kSagemaker + "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\n" +
               "OMPI_COMM_WORLD_LOCAL_RANK=1\nOMPI_COMM_WORLD_LOCAL_SIZE=2\n")
                .placement.rank,
            3);
  EXPECT_EQ(of(kSagemaker + "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\n").launcher, "generic");
  expect_error(
      ErrorCode::missing_variable, [] { of(kSagemaker + "RANK=3\nWORLD_SIZE=4\n"); }, "LOCAL_RANK");
}

TEST(Sagemaker, DamageIsNamed) {
  for (const char* bad : {"[", "[]", "algo-1", "[algo-1]", "[\"algo-1\",]", "[\"algo-1\"] x",
                          "[\"algo-1\",\"algo-1\"]", "[\"\"]", "[\"a\\u0062\"]", "[\"algo-1\""}) {
    expect_error(
        ErrorCode::malformed_value, [&] { of(kSagemaker + "SM_HOSTS=" + bad + "\n"); }, "SM_HOSTS");
  }
  for (const char* name : {"SM_HOSTS", "SM_CURRENT_HOST"}) {
    expect_error(
        ErrorCode::missing_variable, [&] { of(kSagemaker + name + "=\n"); }, name);
  }
  expect_error(
      ErrorCode::inconsistent_placement, [] { of(kSagemaker + "SM_CURRENT_HOST=algo-3\n"); },
      "SM_CURRENT_HOST='algo-3'", "SM_HOSTS");
}

}  // namespace
}  // namespace hpcboot
