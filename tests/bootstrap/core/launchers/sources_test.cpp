#include <gtest/gtest.h>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Each launcher alone: its facts, and that removing or garbling any required variable is an error
// that names it.
namespace hpcboot {
namespace {

using test::expect_error;

struct Launcher {
  const char* name;
  std::map<std::string, std::string> required;  // rank 1 of 4, local rank 1
  std::map<std::string, std::string> optional;
};

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> table = {
      {"explicit",
       {{"HPCBOOT_RANK", "1"}, {"HPCBOOT_WORLD_SIZE", "4"}, {"HPCBOOT_LOCAL_RANK", "1"}},
       {{"HPCBOOT_LOCAL_SIZE", "2"}, {"HPCBOOT_NODE_RANK", "0"}, {"HPCBOOT_NUM_NODES", "2"}}},
      {"torchrun",
       {{"RANK", "1"},
        {"WORLD_SIZE", "4"},
        {"LOCAL_RANK", "1"},
        {"MASTER_ADDR", "n1"},
        {"MASTER_PORT", "29500"}},
       {{"LOCAL_WORLD_SIZE", "2"},
        {"GROUP_RANK", "0"},
        {"GROUP_WORLD_SIZE", "2"},
        {"TORCHELASTIC_RUN_ID", "x"}}},
      {"openmpi",
       {{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
       {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}},
      {"mvapich",
       {{"MV2_COMM_WORLD_RANK", "1"},
        {"MV2_COMM_WORLD_SIZE", "4"},
        {"MV2_COMM_WORLD_LOCAL_RANK", "1"}},
       {{"MV2_COMM_WORLD_LOCAL_SIZE", "2"}}},
      {"pals",
       {{"PALS_RANKID", "1"}, {"PMI_SIZE", "4"}, {"PALS_LOCAL_RANKID", "1"}},
       {{"PALS_LOCAL_SIZE", "2"}, {"PALS_NODEID", "0"}, {"PALS_APID", "a"}}},
      {"flux",
       {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_LOCAL_ID", "1"}},
       {{"FLUX_JOB_NNODES", "2"}, {"FLUX_JOB_ID", "ƒD2e73NP"}}},
      {"lsf",
       {{"JSM_NAMESPACE_RANK", "1"},
        {"JSM_NAMESPACE_SIZE", "4"},
        {"JSM_NAMESPACE_LOCAL_RANK", "1"}},
       {{"JSM_NAMESPACE_LOCAL_SIZE", "2"}}},
      {"hydra",
       {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}},
       {{"MPI_LOCALNRANKS", "2"}, {"PMI_FD", "9"}}},
      {"slurm",
       {{"SLURM_PROCID", "1"},
        {"SLURM_STEP_NUM_TASKS", "4"},
        {"SLURM_LOCALID", "1"},
        {"SLURM_STEP_ID", "0"}},
       {{"SLURM_NODEID", "0"}, {"SLURM_STEP_NUM_NODES", "2"}}},
      {"generic",
       {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}},
       {{"LOCAL_WORLD_SIZE", "2"}}},
      {"pmi2",
       {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}},
       {{"PMI_LOCAL_RANK", "1"}, {"PMI_LOCAL_SIZE", "2"}}},
  };
  return table;
}

std::map<std::string, std::string> all_of(const Launcher& launcher) {
  auto variables = launcher.required;
  variables.insert(launcher.optional.begin(), launcher.optional.end());
  return variables;
}

TEST(Sources, EachGivesItsFacts) {
  for (const Launcher& launcher : launchers()) {
    const Resolution r = resolve(Env(all_of(launcher)), Facts{});
    EXPECT_EQ(r.launcher, launcher.name);
    EXPECT_EQ(r.placement.rank, 1) << launcher.name;
    EXPECT_EQ(r.placement.world_size, 4) << launcher.name;
    EXPECT_EQ(r.placement.local_rank, 1) << launcher.name;
    EXPECT_EQ(r.provenance.at("rank").source, launcher.name);
  }
}

TEST(Sources, ARequiredVariableRemovedOrEmptiedIsNamed) {
  for (const Launcher& launcher : launchers()) {
    for (const auto& [name, value] : launcher.required) {
      auto removed = all_of(launcher);
      removed.erase(name);
      expect_error(
          ErrorCode::missing_variable, [&] { resolve(Env(removed), Facts{}); }, name);
      auto emptied = all_of(launcher);
      emptied[name] = "";
      expect_error(
          ErrorCode::missing_variable, [&] { resolve(Env(emptied), Facts{}); }, name);
    }
  }
}

TEST(Sources, AGarbledIntegerIsNamed) {
  for (const Launcher& launcher : launchers()) {
    for (const auto& [name, value] : all_of(launcher)) {
      if (!parse_whole_number(value) || name == "PMI_FD") continue;  // an answer needs none of them
      for (const char* garbled : {"x", "1x", " 1", "1.0", "99999999999999999999", "--1"}) {
        auto variables = all_of(launcher);
        variables[name] = garbled;
        expect_error(
            ErrorCode::malformed_value, [&] { resolve(Env(variables), Facts{}); }, name, garbled);
      }
    }
  }
}

TEST(Sources, ARankBeyondItsWorldIsAnError) {
  for (const Launcher& launcher : launchers()) {
    auto variables = all_of(launcher);
    variables[launcher.required.count("RANK") != 0 ? "RANK" : [&] {
      for (const auto& [name, value] : launcher.required) {
        if (name.find("RANK") != std::string::npos && name.find("LOCAL") == std::string::npos)
          return name;
      }
      return std::string("SLURM_PROCID");
    }()] = "4";
    expect_error(
        ErrorCode::inconsistent_placement, [&] { resolve(Env(variables), Facts{}); },
        "=4 (world_size)");
  }
}

TEST(Sources, EveryOneHasAReasonForItsPlace) {
  for (const LaunchSource* source : launch_sources()) {
    EXPECT_FALSE(source->why_here.empty()) << source->name;
    EXPECT_EQ(source->detect(Env(), Facts{}).match, Match::absent) << source->name;
  }
}

TEST(Generic, WorldSizeAloneIsAnErrorUnlessABatchScriptSetIt) {
  expect_error(
      ErrorCode::missing_variable, [] { resolve(Env::parse("WORLD_SIZE=4\n"), Facts{}); }, "RANK");
  EXPECT_EQ(resolve(Env::parse("WORLD_SIZE=4\nSLURM_JOB_ID=5\nSLURM_PROCID=0\n"), Facts{}).launcher,
            "single");
  for (const char* job : {"SLURM_JOBID=5\n", "PBS_JOBID=5\n", "LSB_JOBID=5\n", "COBALT_JOBID=5\n",
                          "FLUX_ENCLOSING_ID=f\n", "JOB_ID=5\nSGE_TASK_ID=undefined\n"}) {
    EXPECT_EQ(resolve(Env::parse(std::string("WORLD_SIZE=4\n") + job), Facts{}).launcher, "single")
        << job;
  }
  EXPECT_EQ(resolve(Env::parse("WORLD_SIZE=1\n"), Facts{}).launcher, "single");
}

TEST(Mvapich, ALocalRankAloneIsAnError) {
  expect_error(
      ErrorCode::missing_variable,
      [] { resolve(Env::parse("MV2_COMM_WORLD_LOCAL_RANK=0\n"), Facts{}); }, "MV2_COMM_WORLD_RANK");
}

// kubeflow/trainer#1790, Lightning#13374: RANK may number pods.
TEST(Generic, WithoutLocalRankNoDeviceIsGuessed) {
  expect_error(
      ErrorCode::missing_variable, [] { resolve(Env::parse("RANK=1\nWORLD_SIZE=4\n"), Facts{}); },
      "LOCAL_RANK");
  EXPECT_EQ(resolve(Env::parse("RANK=0\nWORLD_SIZE=1\n"), Facts{}).placement.local_rank, 0);
}

// libmpdata++#461: PMI_RANK=0 and PMI_SIZE=1 in every shell of a Cray.
TEST(Pmi2, ALoneProcessIsNoLaunch) {
  EXPECT_EQ(resolve(Env::parse("PMI_RANK=0\nPMI_SIZE=1\n"), Facts{}).launcher, "single");
}

// ompi#13523 and similar: a rank without a size must not become rank 0 of 1.
TEST(Pmix, ABareRankNeedsAnExchange) {
  expect_error(
      ErrorCode::needs_exchange,
      [] { resolve(Env::parse("PMIX_RANK=2\nPMIX_NAMESPACE=prterun-h-1@1\n"), Facts{}); },
      "world_size", "HPCBOOT_RANK");
}

TEST(Hydra, PmiPortGivesNoRank) {
  expect_error(
      ErrorCode::missing_variable,
      [] {
        resolve(Env::parse("PMI_PORT=h:1\nPMI_ID=1\nMPI_LOCALRANKID=1\nMPI_LOCALNRANKS=2\n"),
                Facts{});
      },
      "PMI_RANK", "-pmi-port");
}

// The step's rank is the agent's, and the same for all of its workers.
TEST(Torchrun, AWorkerIsKnownWithoutARunId) {
  auto variables = all_of(launchers()[1]);
  variables["TORCHELASTIC_RUN_ID"] = "";
  variables["TORCHELASTIC_RESTART_COUNT"] = "0";
  variables["SLURM_JOB_ID"] = "5";
  variables["SLURM_STEP_ID"] = "0";
  variables["SLURM_STEP_NUM_TASKS"] = "2";
  variables["SLURM_PROCID"] = variables["SLURM_LOCALID"] = "0";
  EXPECT_EQ(resolve(Env(variables), Facts{}).launcher, "torchrun");
}

TEST(Torchrun, TheAgentServesTheStore) {
  auto variables = all_of(launchers()[1]);
  EXPECT_FALSE(resolve(Env(variables), Facts{}).agent_store);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  const Resolution r = resolve(Env(variables), Facts{});
  EXPECT_TRUE(r.agent_store);
  EXPECT_TRUE(r.endpoint_is_explicit);
  EXPECT_EQ(r.master_addr, "n1");
  EXPECT_EQ(r.master_port, 29500);
}

}  // namespace
}  // namespace hpcboot
