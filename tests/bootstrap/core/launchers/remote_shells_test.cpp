#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// pbsdsh, blaunch, qrsh and similar number the processes that they start but do not count them:
// they are recognised, never trusted, and never override more specific launchers. Environments
// follow their documentation.
namespace hpcboot {
namespace {

using test::expect_error;

const std::string kPbsTask =
    "PBS_JOBID=3.pbs\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_JOBCOOKIE=REDACTED\nPBS_NODENUM=1\n"
    "PBS_TASKNUM=20000001\nPBS_MOMPORT=15003\n";
// Torque's tasks: their PBS_TASKNUM is decimal.
const std::string kTorqueTask =
    "PBS_JOBID=3.torque\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NODENUM=0\nPBS_VNODENUM=2\n"
    "PBS_TASKNUM=4\n";
const std::string kLsfTask = "LSB_JOBID=7\nLSB_HOSTS=n1 n2\nLSF_PM_TASKID=2\n";
const std::string kSgeTask =
    "JOB_ID=9\nSGE_TASK_ID=undefined\nNSLOTS=4\nNHOSTS=2\nSGE_PE_TASK_ID=1.n2\n";
const std::string kAlps = "ALPS_APP_PE=3\nALPS_APP_ID=4711\nALPS_APP_DEPTH=1\n";
const std::string kMpt = "MPT_MPI_RANK=3\nMPT_VERSION=2.26\n";

Resolution of(const std::string& dump) {
  return resolve(Env::parse(dump), Facts{});
}

TEST(RemoteShells, WithoutASizeThereIsNoAnswer) {
  const std::map<std::string, std::string> tasks = {
      {kPbsTask, "PBS_TASKNUM=20000001"}, {kTorqueTask, "PBS_VNODENUM=2"},
      {kLsfTask, "LSF_PM_TASKID=2"},      {kSgeTask, "SGE_PE_TASK_ID=1.n2"},
      {kAlps, "ALPS_APP_PE=3"},           {kMpt, "MPT_MPI_RANK=3"}};
  for (const auto& [dump, mark] : tasks) {
    expect_error(
        ErrorCode::missing_variable, [&, env = dump] { of(env); }, mark, "HPCBOOT_RANK",
        "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK");
  }
}

TEST(RemoteShells, WhoeverSaysMoreIsTaken) {
  const std::string explicit_settings =
      "HPCBOOT_RANK=3\nHPCBOOT_WORLD_SIZE=4\nHPCBOOT_LOCAL_RANK=1\n";
  const std::string openmpi =
      "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n";
  const std::string generic = "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\n";
  for (const std::string& task : {kPbsTask, kTorqueTask, kLsfTask, kSgeTask, kAlps, kMpt}) {
    EXPECT_EQ(of(explicit_settings + task).launcher, "explicit") << task;
    EXPECT_EQ(of(generic + task).launcher, "generic") << task;
    const Resolution r = of(openmpi + task);
    EXPECT_EQ(r.launcher, "openmpi") << task;
    EXPECT_TRUE(r.other_sources.empty()) << "it has no counts that could disagree: " << task;
  }
}

TEST(RemoteShells, AScriptIsNoTask) {
  // PBS_TASKNUM of a script is decimal; in Torque, so is that of tasks.
  for (const char* number : {"1", "2", "146"}) {
    const std::string script = std::string(
                                   "PBS_JOBID=3.pbs\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NODENUM=0\n"
                                   "PBS_VNODENUM=0\nPBS_TASKNUM=") +
                               number + "\n";
    EXPECT_EQ(of(script).launcher, "single") << number;
  }
  EXPECT_EQ(of("LSB_JOBID=7\nLSB_HOSTS=n1 n2\n").launcher, "single");
  EXPECT_EQ(of("JOB_ID=9\nSGE_TASK_ID=undefined\nNSLOTS=4\n").launcher, "single");
  // Slurm's spank_pbs.
  EXPECT_EQ(of("SLURM_JOB_ID=7\nPBS_JOBID=7\nPBS_TASKNUM=00000001\n").launcher, "single");
  EXPECT_EQ(of("SLURM_JOB_ID=7\nPBS_JOBID=7\nPBS_NODENUM=1\n").launcher, "single");
}

// The tasks of an array or a sweep are independent.
TEST(ArraysAndSweeps, AnIndexIsNoRank) {
  for (const char* dump :
       {"AWS_BATCH_JOB_ID=a:3\nAWS_BATCH_JOB_ARRAY_INDEX=3\nAWS_BATCH_JOB_ARRAY_SIZE=8\n",
        "BATCH_TASK_INDEX=3\nBATCH_TASK_COUNT=8\n",
        "CLOUD_RUN_TASK_INDEX=3\nCLOUD_RUN_TASK_COUNT=8\n",
        "PJM_JOBID=7\nPJM_BULKNUM=3\nPJM_MPI_PROC=1\n",
        "OAR_JOB_ID=7\nOAR_ARRAY_ID=5\nOAR_ARRAY_INDEX=3\n"}) {
    const Resolution r = of(dump);
    EXPECT_EQ(r.launcher, "single") << dump;
    EXPECT_EQ(r.placement.world_size, 1) << dump;
  }
}

}  // namespace
}  // namespace hpcboot
