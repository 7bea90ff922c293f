#include "core/export_mark.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/export.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/sanitize.hpp"
#include "hpcboot/scheduler.hpp"
#include "support/expect_error.hpp"

// Exports of hpcboot apply only to the launch that they were made for.
namespace hpcboot {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kOpenmpi =
    "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
    "PMIX_NAMESPACE=7\nPMIX_RANK=1\n";
const std::string kStep =
    "SLURM_JOB_ID=5\nSLURM_STEP_ID=0\nSLURM_PROCID=1\nSLURM_LOCALID=1\nSLURM_STEP_NUM_TASKS=4\n"
    "SLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n2\nSLURM_STEP_TASKS_PER_NODE=4\n"
    "SLURMD_NODENAME=n2\nSLURM_NODEID=0\n";
const std::string kTorchrun =
    "TORCHELASTIC_RUN_ID=r\nRANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=1\nGROUP_RANK=0\n"
    "GROUP_WORLD_SIZE=1\nMASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\n";

Facts on(const char* hostname) {
  Facts facts;
  facts.hostname = hostname;
  return facts;
}

// The environment after `eval "$(hpcboot env)"`, to which a launcher started later adds `later`.
Env after_export(const Env& env, const Facts& facts, const std::string& later = "") {
  const Resolution r = resolve(env, facts);
  const Env kept = without(env, torch_unset(r, env));
  std::map<std::string, std::string> all(kept.variables().begin(), kept.variables().end());
  for (const auto& [name, value] : torch_env(r, env)) all[name] = value;
  const Env added = Env::parse(later);
  for (const auto& [name, value] : added.variables()) all[name] = value;
  return Env(all);
}

// A laptop's shell, or a shell on a login node.
TEST(ExportMark, AnEndpointOfAnEarlierShellIsNotStale) {
  const Env laptop = after_export(Env(), on("laptop"), kOpenmpi);
  ASSERT_EQ(laptop.text("MASTER_ADDR"), "127.0.0.1");
  const Resolution r = resolve(laptop, on("laptop"));
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_EQ(r.master_addr, std::nullopt);
  EXPECT_THAT(r.ignored_exports, UnorderedElementsAre("MASTER_ADDR", "MASTER_PORT"));
  const Env login = after_export(Env::parse("HPCBOOT_MASTER_ADDR=login\n"), on("login"),
                                 kStep + "HPCBOOT_MASTER_ADDR=\n");
  ASSERT_EQ(login.text("MASTER_ADDR"), "login");
  EXPECT_EQ(resolve(login, on("n2")).master_addr, "n2");
}

// Variables that a user sets in addition to the exports do not make it a different launch.
TEST(ExportMark, WhatTheUserAddsLeavesItTheSameLaunch) {
  for (const char* own :
       {"NODE_RANK=0\n", "HPCBOOT_INTERFACE=eth0\n", "HPCBOOT_MASTER_PORT=20001\n"}) {
    const Env env = after_export(Env::parse(kStep), on("n2"), own);
    EXPECT_THAT(resolve(env, on("n2")).ignored_exports, testing::IsEmpty()) << own;
  }
}

TEST(ExportMark, AnotherJobIsAnotherLaunch) {
  const Env env = after_export(Env::parse("HPCBOOT_MASTER_ADDR=login\n"), on("login"),
                               "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nHPCBOOT_MASTER_ADDR=\n");
  EXPECT_EQ(resolve(env, on("n1")).master_addr, "n1");
}

// srun --pty bash, eval "$(hpcboot env)", and then a launcher.
TEST(ExportMark, ARankIsNoWordAboutALaterLaunch) {
  const std::string shell =
      "SLURM_JOB_ID=5\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_STEP_NUM_TASKS=1\n"
      "SLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n1\nSLURM_STEP_TASKS_PER_NODE=1\n"
      "SLURMD_NODENAME=n1\n";
  for (const std::string& later : {kOpenmpi, kStep}) {
    const Env env = after_export(Env::parse(shell), on("n1"), later);
    ASSERT_EQ(env.text("RANK"), "0");
    const Resolution r = resolve(env, on("n2"));
    EXPECT_EQ(r.placement.rank, 1);
    EXPECT_EQ(r.placement.world_size, 4);
    EXPECT_THAT(r.ignored_exports, Contains("RANK"));
    for (const OtherSource& other_source : r.other_sources)
      EXPECT_NE(other_source.source, "generic");
  }
}

TEST(ExportMark, TheProgramUnderExecReadsItAsBefore) {
  for (const std::string& launch : {kOpenmpi, kStep, kTorchrun}) {
    const Env before = Env::parse(launch + "HPCBOOT_MASTER_ADDR=n2\nHPCBOOT_MASTER_PORT=20001\n");
    const Env env = after_export(before, on("n2"), "HPCBOOT_MASTER_ADDR=\nHPCBOOT_MASTER_PORT=\n");
    EXPECT_THAT(foreign_exports(env), IsEmpty());
    const Resolution r = resolve(env, on("n2"));
    EXPECT_EQ(r.placement.rank, resolve(before, on("n2")).placement.rank);
    EXPECT_EQ(r.master_addr, "n2");
    EXPECT_EQ(r.master_port, 20001);
  }
}

// Under bare PMIx the rank comes from an exchange, and only RANK has it.
TEST(ExportMark, UnderBarePmixTheProgramHasItsRank) {
  const Env pmix = Env::parse("PMIX_NAMESPACE=prterun-h-9@1\nPMIX_RANK=1\n");
  Resolution told;
  told.launcher = "pmix";
  told.placement = {1, 4, 1, 4, 0, 1};
  std::map<std::string, std::string> all = {{"PMIX_NAMESPACE", "prterun-h-9@1"},
                                            {"PMIX_RANK", "1"}};
  for (const auto& [name, value] : torch_env(told, pmix)) all[name] = value;
  EXPECT_EQ(resolve(Env(all), Facts{}).placement.rank, 1);
  EXPECT_EQ(resolve(Env(all), Facts{}).placement.world_size, 4);
  all["PMIX_NAMESPACE"] = "prterun-h-10@1";
  EXPECT_THAT(foreign_exports(Env(all)), Contains("RANK")) << "another prterun";
}

TEST(ExportMark, TorchrunSetsItsOwnPerhapsToTheSameValues) {
  const Env env =
      after_export(Env::parse(kOpenmpi + "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE="
                                         "1\nOMPI_COMM_WORLD_LOCAL_RANK=0\nPMIX_RANK=0\n"),
                   on("h"), kTorchrun);
  ASSERT_EQ(env.text("RANK"), "0");
  const Resolution r = resolve(env, on("h"));
  EXPECT_EQ(r.launcher, "torchrun");
  EXPECT_EQ(r.master_port, 29400);
}

// A torch.distributed program would try to use the agent's store.
TEST(ExportMark, AnAgentFurtherOutIsUnset) {
  Facts facts = on("h");
  facts.ancestors = {{"mpirun", 0, {{"torchrun"}}, false}};
  const Env worker = Env::parse(kTorchrun + kOpenmpi + "TORCHELASTIC_USE_AGENT_STORE=True\n");
  const Env env = after_export(worker, facts);
  EXPECT_FALSE(env.has("TORCHELASTIC_RUN_ID"));
  EXPECT_FALSE(env.has("TORCHELASTIC_USE_AGENT_STORE"));
  EXPECT_FALSE(env.has("LOCAL_WORLD_SIZE")) << "unknown here; it belongs to the worker";
  EXPECT_EQ(env.text("RANK"), "1");
  const Resolution r = resolve(env, on("h"));
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_EQ(r.placement.rank, 1);
  const Env agent = after_export(Env::parse(kTorchrun), on("h"));
  EXPECT_TRUE(agent.has("TORCHELASTIC_RUN_ID"));
}

// An agent in the pod that sets only RANK, WORLD_SIZE, LOCAL_RANK and the endpoint.
TEST(ExportMark, InAPodALaunchersOwnNumbersCount) {
  const Env pod =
      Env::parse("SM_HOSTS=[\"algo-1\",\"algo-2\"]\nSM_CURRENT_HOST=algo-1\nTRAINING_JOB_NAME=j\n");
  const Facts facts = on("algo-1");
  ASSERT_EQ(resolve(after_export(pod, facts), facts).launcher, "sagemaker");
  const std::string agent = "MASTER_ADDR=algo-1\nMASTER_PORT=29500\nRANK=";
  for (const char* numbers : {"0\nWORLD_SIZE=4\nLOCAL_RANK=0\n", "3\nWORLD_SIZE=4\nLOCAL_RANK=1\n",
                              "0\nWORLD_SIZE=2\nLOCAL_RANK=0\n"}) {
    const Env started = after_export(pod, facts, agent + numbers);
    EXPECT_EQ(resolve(started, facts).launcher, "generic") << numbers;
    // Its own exports do not give the pod's numbers back.
    const Resolution again = resolve(after_export(started, facts), facts);
    EXPECT_EQ(again.placement.rank, resolve(started, facts).placement.rank) << numbers;
    EXPECT_EQ(again.placement.world_size, resolve(started, facts).placement.world_size) << numbers;
  }
}

TEST(ExportMark, WhatTheUserSetsCounts) {
  const Env changed = after_export(Env(), on("laptop"), kOpenmpi + "MASTER_PORT=20001\n");
  EXPECT_EQ(resolve(changed, on("laptop")).master_port, 20001);
  // A loop that starts processes by hand.
  const Env loop =
      after_export(Env(), on("laptop"), "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=2\n");
  EXPECT_EQ(resolve(loop, on("laptop")).master_addr, "127.0.0.1");
  for (const char* damaged : {"", "x", ",", "x,RANK", "x,RANK:", ",,:,"}) {
    const Env env(
        {{"HPCBOOT_EXPORTED", damaged}, {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}});
    EXPECT_EQ(resolve(env, on("h")).placement.rank, 1) << damaged;
  }
}

// A launcher or script that renumbers processes may reuse an exported number.
TEST(ExportMark, OneChangedNumberMakesAllOfThemSomebodyElses) {
  for (const int rank : {0, 1, 3}) {
    const std::string number = std::to_string(rank);
    const Env env = after_export(Env(), on("laptop"),
                                 "RANK=" + number + "\nWORLD_SIZE=4\nLOCAL_RANK=" + number + "\n");
    const Resolution r = resolve(env, on("laptop"));
    EXPECT_EQ(r.placement.rank, rank);
    EXPECT_EQ(r.placement.world_size, 4);
    EXPECT_EQ(r.placement.local_size, std::nullopt) << "LOCAL_WORLD_SIZE=1 is left over";
  }
  const Env pods = after_export(Env(), on("laptop"),
                                "KUBERNETES_SERVICE_HOST=10.0.0.1\nRANK=0\nWORLD_SIZE=2\n"
                                "PET_NNODES=2\n");
  EXPECT_EQ(resolve(pods, on("pod-0")).launcher, "kubernetes");
  EXPECT_EQ(resolve(pods, on("pod-0")).placement.world_size, 2);
}

// Exports made on a laptop do not hide an unknown launcher.
TEST(ExportMark, AnUnknownLauncherStartedLaterIsRefusedAllTheSame) {
  const Env later = after_export(Env(), on("laptop"), "SITERUN_RANK=3\nSITERUN_SIZE=4\n");
  test::expect_error(
      ErrorCode::unknown_launcher, [&] { resolve(later, on("n1")); }, "SITERUN_RANK=3");
  // Under it, exec passes on the user's own numbers.
  const Env numbered = Env::parse(
      "SITERUN_RANK=3\nSITERUN_SIZE=4\nRANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nMASTER_ADDR=n1\n"
      "MASTER_PORT=20001\n");
  const Resolution r = resolve(after_export(numbered, on("n1")), on("n1"));
  EXPECT_EQ(r.launcher, "generic");
  EXPECT_EQ(r.placement.rank, 3);
}

TEST(ExportMark, EverySchedulersJobIsALaunchOfItsOwn) {
  for (const Scheduler* scheduler : schedulers()) {
    const std::string variable(job_variable_of(*scheduler));
    ASSERT_FALSE(variable.empty()) << scheduler->name;
    const Env first = after_export(Env::parse(variable + "=1\nMASTER_PORT=20001\n"), on("n1"));
    EXPECT_THAT(foreign_exports(first), IsEmpty()) << scheduler->name;
    std::map<std::string, std::string> all(first.variables().begin(), first.variables().end());
    all[variable] = "2";
    EXPECT_THAT(foreign_exports(Env(all)), Contains("MASTER_PORT")) << scheduler->name;
  }
}

// A shell `eval`s these names, and they hide variables.
TEST(ExportMark, NamesThatOthersMadeUpAreNotUnset) {
  const std::string mark =
      export_mark({{"FOO", "1"}, {"SLURM_PROCID", "0"}, {"$(id)", "x"}, {"RANK", "1"}}, Env());
  const Env env({{"HPCBOOT_EXPORTED", mark},
                 {"FOO", "1"},
                 {"SLURM_PROCID", "0"},
                 {"$(id)", "x"},
                 {"RANK", "1"}});
  EXPECT_THAT(marked_exports(env), ElementsAre("RANK"));
  Resolution r;
  r.launcher = "openmpi";
  r.other_sources = {{"torchrun", false, true, ""}};
  const Env worker({{"TORCHELASTIC_RUN_ID", "r"}, {"TORCHELASTIC_$(id)", "x"}});
  EXPECT_THAT(torch_unset(r, worker), ElementsAre("TORCHELASTIC_RUN_ID"));
}

TEST(ExportMark, InterfacesAreChosenAnewForALaterLaunch) {
  Facts facts = on("h");
  facts.interfaces = {{"ib0", "10.0.0.1", false, true, 100000}};
  const Env env = after_export(Env::parse(kOpenmpi), facts, "PMIX_NAMESPACE=8\n");
  ASSERT_EQ(env.text("GLOO_SOCKET_IFNAME"), "ib0");
  Facts other = on("h2");
  other.interfaces = {{"hsn0", "10.1.0.1", false, true, 100000}};
  EXPECT_EQ(resolve(env, other).interface, "hsn0");
  const Env again = after_export(env, other);
  EXPECT_EQ(again.text("GLOO_SOCKET_IFNAME"), "hsn0");
  EXPECT_THAT(marked_exports(again), Contains("GLOO_SOCKET_IFNAME"));
}

TEST(ExportMark, SanitizeUnsetsIt) {
  const Env env = after_export(Env(), on("laptop"));
  ASSERT_TRUE(env.has("HPCBOOT_EXPORTED"));
  EXPECT_THAT(variables_to_unset(env, Inherit::allocation), Contains("HPCBOOT_EXPORTED"));
  for (const LaunchSource* source : launch_sources()) {
    if (source->name != "explicit") continue;
    const LaunchVariable* mark = source->variables.find("HPCBOOT_EXPORTED");
    ASSERT_NE(mark, nullptr);
    EXPECT_EQ(mark->kind, VariableKind::companion) << "a setting would stay";
  }
}

}  // namespace
}  // namespace hpcboot
