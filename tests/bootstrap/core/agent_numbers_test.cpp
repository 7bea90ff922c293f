#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ancestors.hpp"
#include "core/nesting.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Agents that set nothing but RANK, WORLD_SIZE and LOCAL_RANK, started once on each host by srun or
// mpirun: DeepSpeed (deepspeed/launcher/launch.py), Composer (composer/cli/launcher.py), Ray Train
// (ray/train/torch/config.py), torch.distributed.launch up to 1.8.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::HasSubstr;

// `srun --pty bash`: deepspeedai/DeepSpeed, tencent-hunyuan/Hunyuan3D-2.1#184.
const std::string kShell =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n1\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
    "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=1\nSLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n1\n"
    "SLURM_STEP_TASKS_PER_NODE=1\nSLURM_GTIDS=0\nSLURMD_NODENAME=n1\nSLURM_TASK_PID=77\n";
const std::string kDeepspeed =
    "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=3\nLOCAL_SIZE=4\nCROSS_RANK=0\nCROSS_SIZE=1\n"
    "MASTER_ADDR=127.0.0.1\nMASTER_PORT=29500\n";

// `srun -N2 --ntasks-per-node=1 composer --node_rank $SLURM_NODEID …`, the second task.
const std::string kAgent =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=1\nSLURM_LOCALID=0\n"
    "SLURM_NODEID=1\nSLURM_STEP_NUM_TASKS=2\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\n"
    "SLURM_STEP_TASKS_PER_NODE=1(x2)\nSLURM_GTIDS=1\nSLURMD_NODENAME=n2\nSLURM_TASK_PID=77\n";
const std::string kComposer =
    "RANK=11\nWORLD_SIZE=16\nLOCAL_RANK=3\nLOCAL_WORLD_SIZE=8\nNODE_RANK=1\nMASTER_ADDR=n1\n"
    "MASTER_PORT=29500\n";

const std::string kMpirun =
    "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"
    "OMPI_COMM_WORLD_LOCAL_SIZE=1\n";

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

// The parent process started with these variables.
Facts under(const std::string& both, const std::string& parent, bool is_task = false) {
  const LaunchersSeen seen = launchers_seen(Env::parse(both), Env::parse(parent));
  Facts facts;
  facts.ancestors = {{"python3", 12, seen.held, is_task, seen.changed}, {"sshd", 11, {{}}, false}};
  return facts;
}

TEST(AgentNumbers, AreThoseOfTheProcessesThatTheAgentStarted) {
  const Resolution shell = of(kShell + kDeepspeed, under(kShell + kDeepspeed, kShell));
  EXPECT_EQ(shell.launcher, "generic");
  EXPECT_EQ(shell.placement.rank, 3);
  EXPECT_EQ(shell.placement.world_size, 4);
  EXPECT_EQ(shell.placement.local_rank, 3);
  ASSERT_EQ(shell.other_sources.size(), 1U);
  EXPECT_TRUE(shell.other_sources[0].is_explained);
  EXPECT_THAT(shell.other_sources[0].note,
              HasSubstr("generic is the inner launcher: its variables are absent from the "
                        "environment of the parent process 12 (python3)"));

  // The agent is itself the step's task, and the batch script exported WORLD_SIZE.
  const std::string script = kAgent + "WORLD_SIZE=2\nMASTER_ADDR=n1\n";
  const Resolution agent = of(kAgent + kComposer, under(kAgent + kComposer, script, true));
  EXPECT_EQ(agent.launcher, "generic");
  EXPECT_EQ(agent.placement.rank, 11);
  EXPECT_EQ(agent.placement.node_rank, 1);
  EXPECT_EQ(agent.placement.num_nodes, 2);
  EXPECT_EQ(agent.master_addr, "n1");

  const std::string pmix = kMpirun + "PMIX_NAMESPACE=4711\nPMIX_RANK=1\n";
  const Resolution rank = of(pmix + kComposer, under(pmix + kComposer, pmix));
  EXPECT_EQ(rank.placement.rank, 11);
  for (const OtherSource& other : rank.other_sources) EXPECT_TRUE(other.is_explained) << other.note;
}

TEST(AgentNumbers, AreAmbiguousIfTheAncestorsDoNotTell) {
  // A script changed RANK.
  const std::string changed = kAgent + "RANK=0\nLOCAL_RANK=0\n";
  expect_error(
      ErrorCode::ambiguous_environment,
      [&] { of(kAgent + kComposer, under(kAgent + kComposer, changed)); },
      "generic reports rank=11 world_size=16 local_rank=3", "do not show it",
      "HPCBOOT_METHODS=generic");
}

// Numbers that a shell has left look the same.
TEST(AgentNumbers, AreLessThanALaunchWithoutTheAncestors) {
  for (const std::string& outer : {kShell, kAgent, kMpirun}) {
    const Resolution r = of(outer + kComposer);
    EXPECT_NE(r.launcher, "generic");
    ASSERT_EQ(r.other_sources.size(), 1U);
    EXPECT_FALSE(r.other_sources[0].is_explained) << r.other_sources[0].note;
  }
}

// A worker of DeepSpeed calls `srun -n1`, or mpirun.
TEST(AgentNumbers, DoNotCountIfTheyCameWithTheCallerOfTheLauncher) {
  Facts task;
  task.is_slurm_task = true;
  EXPECT_EQ(of(kShell + kDeepspeed, task).placement.world_size, 1);
  const Facts child = under(kShell + kDeepspeed, kShell + kDeepspeed, true);
  EXPECT_EQ(of(kShell + kDeepspeed, child).placement.world_size, 1);
  const Resolution r = of(kMpirun + kComposer, under(kMpirun + kComposer, kComposer));
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_TRUE(r.other_sources.at(0).is_explained);
}

TEST(AgentNumbers, AreOverruledByALaunchOfTheSameSizeOrWithSeveralProcessesPerHost) {
  EXPECT_EQ(of(kAgent + "RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\n").placement.rank, 1);
  EXPECT_EQ(of(kMpirun + kComposer +
               "OMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
               "OMPI_COMM_WORLD_LOCAL_SIZE=2\n")
                .launcher,
            "openmpi");
  EXPECT_EQ(of(kAgent + "WORLD_SIZE=16\nLOCAL_RANK=3\n").launcher, "slurm") << "no RANK";
}

TEST(AgentNumbers, MakeTheAncestorsNecessary) {
  const auto needs = [](const std::string& dump) {
    return needs_ancestors(Env::parse(dump), Facts{});
  };
  EXPECT_TRUE(needs(kShell + kDeepspeed));
  EXPECT_TRUE(needs(kMpirun + kComposer));
  EXPECT_FALSE(needs(kAgent + "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=0\n"));
}

}  // namespace
}  // namespace hpcboot
