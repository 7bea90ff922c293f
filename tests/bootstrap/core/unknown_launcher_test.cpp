#include <gtest/gtest.h>

#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// A process that no known launcher placed is single, unless its environment has the identity of an
// unknown launcher.
namespace hpcboot {
namespace {

using test::expect_error;

Resolution of(const std::string& dump) {
  return resolve(Env::parse(dump), Facts{});
}

struct Ordinary {
  const char* what;
  std::string dump;
  std::string hint = "";  // a part of a hint; empty: no hint expected
};

const std::string kBatch =
    "SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_TASKS_PER_NODE=2(x2)\nSLURM_NTASKS=4\n"
    "SLURM_NPROCS=4\nSLURM_NNODES=2\n";

// Environments in which a process is single and must remain so.
const std::vector<Ordinary>& ordinary() {
  static const std::vector<Ordinary> table = {
      {"a laptop", "HOME=/home/u\nPATH=/bin\nSHLVL=1\nCOLUMNS=80\nHISTSIZE=1000\n"},
      {"a batch script of Slurm", kBatch + "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_NODEID=0\n",
       "4 tasks"},
      {"a batch script of Slurm 26",
       kBatch + "SLURM_PROCID=0\nSLURM_STEP_ID=-5\nSLURM_STEPID=4294967291\n", "4 tasks"},
      {"salloc", kBatch, "4 tasks"},
      {"salloc with an interactive step",
       kBatch + "SLURM_PROCID=0\nSLURM_STEP_ID=4294967290\nSLURM_STEP_NUM_TASKS=1\n", "4 tasks"},
      {"a task of a Slurm array",
       "SLURM_JOB_ID=9\nSLURM_ARRAY_JOB_ID=8\nSLURM_ARRAY_TASK_ID=3\nSLURM_ARRAY_TASK_COUNT=10\n"
       "SLURM_ARRAY_TASK_MIN=0\nSLURM_ARRAY_TASK_MAX=9\nSLURM_PROCID=0\nSLURM_NTASKS=1\n"},
      {"a task of a PBS array",
       "PBS_JOBID=20[2].pbs\nPBS_ARRAY_ID=20[].pbs\nPBS_ARRAY_INDEX=2\nPBS_ENVIRONMENT=PBS_BATCH\n"
       "PBS_TASKNUM=1\nPBS_NODENUM=0\nNCPUS=4\n"},
      {"a job of Torque",
       "PBS_JOBID=3.pbs\nPBS_NUM_NODES=2\nPBS_NUM_PPN=1\nPBS_NODENUM=0\nPBS_TASKNUM=1\n"
       "PBS_VNODENUM=0\nPBS_NP=2\nPBS_ENVIRONMENT=PBS_BATCH\n",
       "2 tasks"},
      {"a task of a Grid Engine array",
       "JOB_ID=4\nSGE_TASK_ID=3\nSGE_TASK_FIRST=1\nSGE_TASK_LAST=9\nSGE_TASK_STEPSIZE=1\n"
       "NSLOTS=1\nNHOSTS=1\nNQUEUES=1\n"},
      {"a parallel environment of Grid Engine", "JOB_ID=4\nSGE_TASK_ID=undefined\nNSLOTS=8\n",
       "8 tasks"},
      {"an element of an LSF array", "LSB_JOBID=5\nLSB_JOBINDEX=3\nLSB_DJOB_NUMPROC=1\n"},
      {"an LSF job", "LSB_JOBID=5\nLSB_JOBINDEX=0\nLSB_DJOB_NUMPROC=8\n", "8 tasks"},
      {"a Cobalt job", "COBALT_JOBID=6\nCOBALT_JOBSIZE=2\nCOBALT_PARTSIZE=2\n"},
      {"a batch script of Flux",
       "FLUX_ENCLOSING_ID=f1\nFLUX_URI=local:///run/flux\nFLUX_JOB_SIZE=4\nFLUX_JOB_NNODES=2\n"},
      {"an AWS Batch array", "AWS_BATCH_JOB_ARRAY_INDEX=2\nAWS_BATCH_JOB_ARRAY_SIZE=10\n"},
      {"Cloud Run jobs", "CLOUD_RUN_TASK_INDEX=1\nCLOUD_RUN_TASK_COUNT=4\n"},
      {"Google Cloud Batch", "BATCH_TASK_INDEX=1\nBATCH_TASK_COUNT=4\n"},
      {"an index of an indexed job", "JOB_COMPLETION_INDEX=3\n"},
      {"GitLab CI", "CI_NODE_INDEX=1\nCI_NODE_TOTAL=4\nCI_JOB_ID=5\n"},
      {"CircleCI", "CIRCLE_NODE_INDEX=1\nCIRCLE_NODE_TOTAL=4\n"},
      {"Buildkite", "BUILDKITE_PARALLEL_JOB=1\nBUILDKITE_PARALLEL_JOB_COUNT=4\n"},
      {"Knapsack", "KNAPSACK_NODE_INDEX=1\nKNAPSACK_NUM_NODES=4\n"},
      {"pytest-xdist", "PYTEST_XDIST_WORKER=gw1\nPYTEST_XDIST_WORKER_COUNT=4\n"},
      {"GoogleTest", "GTEST_SHARD_INDEX=1\nGTEST_TOTAL_SHARDS=4\n"},
      {"Jest", "JEST_WORKER_ID=1\n"},
      {"Playwright", "TEST_WORKER_INDEX=0\nTEST_COUNT=5\n"},
      {"Harness", "HARNESS_NODE_INDEX=1\nHARNESS_NODE_TOTAL=4\n"},
      {"Dask", "DASK_WORKER_INDEX=1\nDASK_NUM_WORKERS=4\n"},
      {"Parsl", "PARSL_WORKER_RANK=1\nPARSL_WORKER_COUNT=4\n"},
      {"Ray", "RAY_NODE_INDEX=1\nRAY_NUM_NODES=4\n"},
      {"GNU parallel", "PARALLEL_SEQ=3\nPARALLEL_PID=77\n"},
      {"slots of mpirun without a rank", "OMPI_UNIVERSE_SIZE=4\n"},
      {"settings of MPI libraries",
       "OMPI_MCA_btl=self,tcp\nOMPI_MCA_plm_slurm_args=x\nI_MPI_FABRICS=shm\nHYDRA_BOOTSTRAP=ssh\n"
       "PMIX_MCA_gds=hash\nMPICH_GPU_SUPPORT_ENABLED=1\n"},
      {"a low-rank adaptation", "LORA_RANK=8\nLORA_SIZE=64\n"},
      {"a batch size next to a rank of a matrix", "MODEL_RANK=4\nMODEL_BATCH_SIZE=32\n",
       "MODEL_RANK=4"},
      {"a Kubernetes service",
       "RANK_SVC_SERVICE_PORT=80\nRANK_SVC_SERVICE_HOST=10.0.0.1\n"
       "RANK_SVC_PORT=tcp://10.0.0.1:80\n"},
      {"an empty pair", "FOO_RANK=\nFOO_SIZE=8\n"},
      {"a lone rank", "FOO_RANK=3\n", "FOO_RANK=3"},
      {"a lone world size", "FOO_WORLD_SIZE=8\n", "FOO_WORLD_SIZE=8"},
      {"a lone size", "BATCH_SIZE=8\nPOOL_SIZE=4\n"},
      {"a world of one", "FOO_RANK=0\nFOO_SIZE=1\n", "FOO_RANK=0"},
      {"an index beyond the size", "FOO_RANK=8\nFOO_SIZE=8\n", "FOO_RANK=8"},
      {"words", "FOO_RANK=first\nFOO_SIZE=large\n"},
      {"signs and spaces", "FOO_RANK=+3\nFOO_SIZE=8\nBAR_RANK= 3\nBAR_SIZE=8\n"},
      {"hexadecimal", "FOO_RANK=0x3\nFOO_SIZE=0x8\n"},
      {"two prefixes", "FOO_RANK=3\nBAR_SIZE=8\n", "FOO_RANK=3"},
      {"names that merely end so", "CRANK=3\nCSIZE=8\nFRANK_SIZE=8\n"},
      {"WORLD_SIZE in a batch script", kBatch + "WORLD_SIZE=4\n", "4 tasks"},
  };
  return table;
}

TEST(UnknownLauncher, OrdinaryEnvironmentsAreAlone) {
  for (const Ordinary& one : ordinary()) {
    SCOPED_TRACE(one.what);
    try {
      const Resolution r = of(one.dump);
      EXPECT_EQ(r.launcher, "single");
      EXPECT_EQ(r.placement.world_size, 1);
      std::string hints;
      for (const std::string& hint : r.hints) hints += hint + "\n";
      EXPECT_EQ(hints.empty(), one.hint.empty()) << hints;
      EXPECT_NE(hints.find(one.hint), std::string::npos) << hints;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  RecordProperty("environments", static_cast<int>(ordinary().size()));
}

// All combinations of index and size suffixes.
TEST(UnknownLauncher, AnIndexAndASizeAfterOnePrefixAreRefused) {
  int count = 0;
  for (const std::string index :
       {"RANK", "RANK_ID", "PROCID", "PROCNO", "PROCESS_ID", "PROCESS_INDEX", "NODE_RANK",
        "NODE_INDEX", "WORKER_INDEX", "TRAINER_ID", "MACHINE_RANK"}) {
    for (const std::string size :
         {"SIZE", "WORLD_SIZE", "NPROCS", "NRANKS", "NTASKS", "NUM_PROCESSES", "NUM_NODES",
          "NNODES", "NUM_WORKERS", "TRAINERS_NUM", "COUNT"}) {
      for (const std::string prefix : {"FOO_", "_FOO_", "MY_LAUNCHER_"}) {
        const std::string dump =
            std::string(prefix).append(index) + "=0\n" + prefix + size + "=2\n";
        SCOPED_TRACE(dump);
        expect_error(
            ErrorCode::unknown_launcher, [&] { of(dump); }, prefix + index + "=0",
            prefix + size + "=2", "HPCBOOT_METHODS=single");
        ++count;
      }
    }
  }
  EXPECT_EQ(count, 363);
}

// Names that a launcher declares, even as a whole family, still count: that launcher did not
// recognise this process.
TEST(UnknownLauncher, NamesOfKnownLaunchersAreNoExcuse) {
  for (const char* dump :
       {"MPI_RANK=1\nMPI_SIZE=4\n", "MPIRUN_RANK=1\nMPIRUN_NPROCS=4\n",
        "MVP_COMM_WORLD_RANK=1\nMVP_COMM_WORLD_SIZE=4\n",
        "PADDLE_TRAINER_ID=1\nPADDLE_TRAINERS_NUM=2\n", "NODE_RANK=1\nNNODES=2\n",
        "NODE_RANK=1\nNUM_NODES=2\n", "GROUP_RANK=1\nGROUP_WORLD_SIZE=2\n",
        "PMI2_RANK=1\nPMI2_SIZE=2\n", "CRAY_RANK=1\nCRAY_SIZE=2\n",
        "OMPI_NODE_RANK=1\nOMPI_NNODES=2\n", "ROLE_RANK=1\nROLE_WORLD_SIZE=2\n",
        "HOROVOD_CROSS_RANK=1\nHOROVOD_CROSS_SIZE=2\n",
        "SLURM_JOB_ID=7\nWORLD_RANK=1\nWORLD_SIZE=4\n"}) {
    SCOPED_TRACE(dump);
    expect_error(
        ErrorCode::unknown_launcher, [&] { of(dump); }, "HPCBOOT_METHODS=single");
  }
}

TEST(UnknownLauncher, HintsAreFewAndShort) {
  std::string dump = std::string(5000, 'V') + "_RANK=1\n";
  for (int i = 0; i < 100; ++i) dump += "V" + std::to_string(i) + "_RANK=1\n";
  const Resolution r = of(dump);
  EXPECT_EQ(r.hints.size(), 8U);
  for (const std::string& hint : r.hints) EXPECT_LT(hint.size(), 300U);
}

TEST(UnknownLauncher, TellsHowToGoOn) {
  expect_error(
      ErrorCode::unknown_launcher, [] { of("FOO_RANK=3\nFOO_SIZE=8\n"); }, "FOO_RANK=3",
      "FOO_SIZE=8", "HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK",
      "`hpcboot launchers --help`", "`hpcboot exec -- PROGRAM`", "HPCBOOT_METHODS=single");
  const Resolution overruled = of("FOO_RANK=3\nFOO_SIZE=8\nHPCBOOT_METHODS=single\n");
  EXPECT_EQ(overruled.launcher, "single");
  EXPECT_TRUE(overruled.hints.empty());
  EXPECT_EQ(of("FOO_RANK=3\nFOO_SIZE=8\nHPCBOOT_RANK=3\nHPCBOOT_WORLD_SIZE=8\n"
               "HPCBOOT_LOCAL_RANK=3\n")
                .launcher,
            "explicit");
}

TEST(UnknownLauncher, AKnownLauncherIsNotAskedForMore) {
  const Resolution r =
      of("FOO_RANK=3\nFOO_SIZE=8\nOMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\n"
         "OMPI_COMM_WORLD_LOCAL_RANK=1\n");
  EXPECT_EQ(r.launcher, "openmpi");
}

// Also in a job: a batch script may have started an unknown launcher.
TEST(UnknownLauncher, IsRefusedInsideAJob) {
  expect_error(
      ErrorCode::unknown_launcher, [] { of(kBatch + "SLURM_PROCID=0\nFOO_RANK=3\nFOO_SIZE=8\n"); },
      "FOO_RANK=3");
}

TEST(Refusal, NamesTheLauncherThatIsComplete) {
  const std::string step =
      kBatch + "SLURM_STEP_ID=0\nSLURM_PROCID=1\nSLURM_LOCALID=1\nSLURM_STEP_NUM_TASKS=4\n";
  expect_error(
      ErrorCode::missing_variable, [&] { of(step + "OMPI_COMM_WORLD_RANK=0\n"); },
      "OMPI_COMM_WORLD_SIZE", "HPCBOOT_METHODS=slurm");
}

TEST(Refusal, NamesSingleIfNobodyElseIsThere) {
  for (const char* dump :
       {"OMPI_COMM_WORLD_RANK=0\n", "RANK=3\n", "PMI_RANK=2\n", "HPCBOOT_RANK=1\n",
        "KUBERNETES_SERVICE_HOST=10.0.0.1\nJOB_COMPLETION_INDEX=3\n"}) {
    SCOPED_TRACE(dump);
    expect_error(
        ErrorCode::missing_variable, [&] { of(dump); }, "HPCBOOT_METHODS=single");
  }
}

}  // namespace
}  // namespace hpcboot
