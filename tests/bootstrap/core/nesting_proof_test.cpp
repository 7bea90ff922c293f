#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "core/ancestors.hpp"
#include "core/nesting.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Of two launchers that disagree, one started the other: the environments of the ancestor processes
// prove which, and without them the sizes must match.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A process of one launch: rank 0 of a world of one, else the last rank.
struct Launch {
  std::string name;
  std::string (*variables)(int world_size);
};

std::string number(int value) {
  return std::to_string(value);
}

const std::vector<Launch> kLaunches = {
    {"torchrun",
     [](int size) {
       return "TORCHELASTIC_RUN_ID=r\nMASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\nGROUP_RANK=0\n"
              "GROUP_WORLD_SIZE=1\nRANK=" +
              number(size - 1) + "\nLOCAL_RANK=" + number(size - 1) +
              "\nWORLD_SIZE=" + number(size) + "\nLOCAL_WORLD_SIZE=" + number(size) + "\n";
     }},
    {"openmpi",
     [](int size) {
       return "OMPI_COMM_WORLD_RANK=" + number(size - 1) +
              "\nOMPI_COMM_WORLD_SIZE=" + number(size) +
              "\nOMPI_COMM_WORLD_LOCAL_RANK=" + number(size - 1) +
              "\nOMPI_COMM_WORLD_LOCAL_SIZE=" + number(size) + "\n";
     }},
    {"hydra",
     [](int size) {
       return "PMI_FD=9\nPMI_RANK=" + number(size - 1) + "\nPMI_SIZE=" + number(size) +
              "\nMPI_LOCALRANKID=" + number(size - 1) + "\nMPI_LOCALNRANKS=" + number(size) + "\n";
     }},
    {"slurm",
     [](int size) {
       return "SLURM_JOB_ID=5\nSLURM_STEP_ID=0\nSLURM_STEP_NUM_NODES=1\nSLURM_STEP_NODELIST=n1\n"
              "SLURMD_NODENAME=n1\nSLURM_NODEID=0\nSLURM_TASK_PID=77\nSLURM_PROCID=" +
              number(size - 1) + "\nSLURM_LOCALID=" + number(size - 1) +
              "\nSLURM_STEP_NUM_TASKS=" + number(size) +
              "\nSLURM_STEP_TASKS_PER_NODE=" + number(size) + "\n";
     }},
    {"pals",
     [](int size) {
       return "PALS_RANKID=" + number(size - 1) + "\nPALS_LOCAL_RANKID=" + number(size - 1) +
              "\nPALS_LOCAL_SIZE=" + number(size) + "\nPALS_NODEID=0\nPMI_SIZE=" + number(size) +
              "\n";
     }},
};

// The inner launcher's own process has the outer launcher's variables; the outer launcher's process
// has neither.
Facts facts_of(const std::string& both, const std::string& outer) {
  Facts facts;
  facts.ancestors = {
      {"launch", 12, launchers_seen(Env::parse(both), Env::parse(outer)).held, false},
      {"bash", 11, {{}}, false},
  };
  return facts;
}

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

struct Pair {
  const Launch* outer;
  const Launch* inner;
  int outer_size, inner_size;
};

// Not for PALS and Hydra: PMI_SIZE cannot hold both. PALS_* inside a step belong to cray_shasta.
std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const Launch& outer : kLaunches) {
    for (const Launch& inner : kLaunches) {
      const auto is_pair = [&](const char* a, const char* b) {
        return (outer.name == a && inner.name == b) || (outer.name == b && inner.name == a);
      };
      if (outer.name == inner.name || is_pair("pals", "hydra") || is_pair("pals", "slurm"))
        continue;
      for (const int outer_size : {1, 2}) {
        for (const int inner_size : {1, 2, 4})
          all.push_back({&outer, &inner, outer_size, inner_size});
      }
    }
  }
  return all;
}

class NestingProof : public testing::TestWithParam<Pair> {};

TEST_P(NestingProof, TheInnermostLauncherPlacedTheProcess) {
  const auto& [outer, inner, outer_size, inner_size] = GetParam();
  const std::string both = outer->variables(outer_size) + inner->variables(inner_size);
  const Resolution r = of(both, facts_of(both, outer->variables(outer_size)));
  EXPECT_EQ(r.launcher, inner->name);
  EXPECT_EQ(r.placement.rank, inner_size - 1);
  EXPECT_EQ(r.placement.world_size, inner_size);
  for (const OtherSource& other_source : r.other_sources) {
    EXPECT_TRUE(other_source.agrees || other_source.is_explained)
        << other_source.source << ": " << other_source.note;
    if (other_source.source != outer->name) continue;
    EXPECT_EQ(other_source.agrees, outer_size == inner_size);
    if (other_source.agrees) continue;
    EXPECT_THAT(other_source.note,
                HasSubstr(inner->name + " is the inner launcher: its variables are absent "
                                        "from the environment of the parent process 12 (launch)"));
  }
}

std::string name_of_pair(const testing::TestParamInfo<Pair>& info) {
  const auto& [outer, inner, outer_size, inner_size] = info.param;
  return inner->name + number(inner_size) + "In" + outer->name + number(outer_size);
}

INSTANTIATE_TEST_SUITE_P(EveryPair, NestingProof, testing::ValuesIn(pairs()), name_of_pair);

std::string launch(const char* name, int size) {
  for (const Launch& each : kLaunches) {
    if (each.name == name) return each.variables(size);
  }
  return "";
}

TEST(Nesting, WithoutFactsTorchrunNeedsAnAgentInEachOuterProcess) {
  for (const char* outer : {"openmpi", "hydra", "slurm", "pals"}) {
    // The second of two agents, with one worker each.
    const std::string agents = launch(outer, 2) + launch("torchrun", 2) +
                               "LOCAL_RANK=0\nLOCAL_WORLD_SIZE=1\nGROUP_RANK=1\n"
                               "GROUP_WORLD_SIZE=2\nRANK=0\n";
    const Resolution r = of(agents);
    EXPECT_EQ(r.launcher, "torchrun") << outer;
    EXPECT_TRUE(r.other_sources.at(0).is_explained);
    EXPECT_THAT(r.other_sources.at(0).note, HasSubstr("GROUP_WORLD_SIZE=2 matches one agent"));
    expect_error(
        ErrorCode::ambiguous_environment, [&] { of(launch(outer, 4) + launch("torchrun", 1)); },
        "torchrun reports rank=0 world_size=1 local_rank=0 GROUP_WORLD_SIZE=1",
        std::string(outer) + " reports rank=3 world_size=4", "GROUP_WORLD_SIZE=4",
        "are not available", "HPCBOOT_METHODS=torchrun", "HPCBOOT_METHODS=single");
  }
  const Resolution chosen =
      of(launch("openmpi", 4) + launch("torchrun", 1) + "HPCBOOT_METHODS=torchrun,openmpi\n");
  EXPECT_TRUE(chosen.other_sources.at(0).is_explained);
  EXPECT_THAT(chosen.other_sources.at(0).note, HasSubstr("HPCBOOT_METHODS names torchrun first"));
  const Resolution explicit_rank =
      of(launch("openmpi", 4) +
         "HPCBOOT_RANK=0\nHPCBOOT_WORLD_SIZE=1\nHPCBOOT_LOCAL_RANK=0\nHPCBOOT_LOCAL_SIZE=1\n");
  EXPECT_TRUE(explicit_rank.other_sources.at(0).is_explained);
  EXPECT_THAT(explicit_rank.other_sources.at(0).note, HasSubstr("the user set HPCBOOT_RANK"));
  EXPECT_EQ(of(launch("openmpi", 4) + launch("torchrun", 1) + "HPCBOOT_METHODS=single\n")
                .placement.world_size,
            1);
}

TEST(Nesting, WithoutFactsRanksOfMpirunInheritTheStepOfTheirDaemon) {
  const Resolution daemon = of(launch("openmpi", 4) + launch("slurm", 1));
  EXPECT_EQ(daemon.launcher, "openmpi");
  EXPECT_TRUE(daemon.other_sources.at(0).is_explained);
  const Resolution tasks = of(launch("openmpi", 1) + launch("slurm", 4));
  EXPECT_EQ(tasks.launcher, "openmpi");
  EXPECT_FALSE(tasks.other_sources.at(0).is_explained);
  EXPECT_THAT(tasks.other_sources.at(0).note, HasSubstr("nothing shows which started the other"));
}

// What remains visible of /proc in a container or with another user's process in between.
TEST(Nesting, ProofsStopAtTheFirstUnknownAncestor) {
  const std::string both = launch("openmpi", 2) + launch("torchrun", 1);
  Facts facts;
  facts.ancestors.emplace();
  expect_error(
      ErrorCode::ambiguous_environment, [&] { of(both, facts); }, "do not show it");
  facts.ancestors = {{"bash", 12, {{"openmpi", "torchrun"}}, false}, {"sh", 11, {}, false}};
  expect_error(
      ErrorCode::ambiguous_environment, [&] { of(both, facts); }, "do not show it");
  facts.ancestors->push_back({"python3", 10, {{"openmpi"}}, false});
  expect_error(
      ErrorCode::ambiguous_environment, [&] { of(both, facts); }, "do not show it");
  facts.ancestors->at(1).held = {"openmpi", "torchrun"};
  const Resolution r = of(both, facts);
  EXPECT_EQ(r.launcher, "torchrun");
  EXPECT_THAT(r.other_sources.at(0).note,
              HasSubstr("the ancestor process 10 (python3), 3 levels up"));
}

TEST(Nesting, TwoThatCameWithOneProcessAreLeftToTheOtherRules) {
  Facts facts;
  facts.ancestors = {{"mpirun", 0, {{}}, false}};
  EXPECT_EQ(of(launch("openmpi", 4) + launch("slurm", 1), facts).launcher, "openmpi");
  expect_error(
      ErrorCode::ambiguous_environment,
      [&] { of(launch("openmpi", 4) + launch("hydra", 2), facts); },
      "openmpi reports rank=3 world_size=4", "do not show it");
  facts.pmi_fd_is_open_socket = true;
  EXPECT_EQ(of(launch("openmpi", 4) + launch("hydra", 2), facts).launcher, "hydra");
}

TEST(Nesting, AStepsTaskHadTheVariablesOfTheLauncherThatCalledSrun) {
  Facts task;
  task.is_slurm_task = true;
  Facts child;
  child.ancestors = {{"bash", 77, {{"torchrun", "openmpi", "hydra", "slurm"}}, true}};
  for (const char* outer : {"torchrun", "openmpi", "hydra"}) {
    for (const Facts& facts : {task, child}) {
      const Resolution r = of(launch(outer, 1) + launch("slurm", 4), facts);
      EXPECT_EQ(r.launcher, "slurm") << outer;
      EXPECT_EQ(r.placement.rank, 3);
      EXPECT_FALSE(r.endpoint_is_explicit);
      for (const OtherSource& other_source : r.other_sources)
        EXPECT_TRUE(other_source.agrees || other_source.is_explained)
            << other_source.source << other_source.note;
    }
  }
  // mpirun's daemon is the task, and has none of mpirun's variables.
  child.ancestors = {{"orted", 77, {{"slurm"}}, true}};
  EXPECT_EQ(of(launch("openmpi", 4) + launch("slurm", 2), child).launcher, "openmpi");
}

// Neither torchrun's agent nor Python passes the descriptor on.
TEST(Nesting, AnOpenPmiSocketIsOfALauncherInsideTorchrun) {
  Facts open;
  open.pmi_fd_is_open_socket = true;
  const Resolution r = of(launch("hydra", 4) + launch("torchrun", 1), open);
  EXPECT_EQ(r.launcher, "hydra");
  EXPECT_TRUE(r.other_sources.at(0).is_explained);
  EXPECT_EQ(r.placement.rank, 3);
}

TEST(Nesting, RanksThatAgreeByChanceAreOfOneLauncher) {
  Facts open;
  open.pmi_fd_is_open_socket = true;
  EXPECT_EQ(of(launch("torchrun", 2) + launch("hydra", 2), open).launcher, "hydra");
  EXPECT_EQ(of(launch("torchrun", 2) + launch("hydra", 2)).launcher, "torchrun");
}

TEST(Nesting, BarePmixInsideAWorkerOfTorchrun) {
  const std::string both = launch("torchrun", 1) + "PMIX_NAMESPACE=prterun-h-9@1\nPMIX_RANK=0\n";
  expect_error(
      ErrorCode::needs_exchange, [&] { of(both, facts_of(both, launch("torchrun", 1))); }, "pmix");
  EXPECT_EQ(of(both, facts_of(both, "PMIX_NAMESPACE=prterun-h-9@1\nPMIX_RANK=0\n")).launcher,
            "torchrun");
  expect_error(
      ErrorCode::ambiguous_environment, [&] { of(both + "PMIX_RANK=2\n"); }, "pmix reports rank=2");
}

TEST(Nesting, AnEndpointOfTheTorchrunFurtherOutIsNotThisLaunchs) {
  const std::string both = launch("torchrun", 1) + launch("openmpi", 2);
  const Resolution r = of(both, facts_of(both, launch("torchrun", 1)));
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_NE(r.master_port, 29400);
  EXPECT_FALSE(r.endpoint_is_explicit);
  const Resolution chosen =
      of(launch("torchrun", 1) + launch("openmpi", 2) + "HPCBOOT_METHODS=openmpi\n");
  EXPECT_NE(chosen.master_port, 29400);
}

TEST(Nesting, RankOfATorchrunFurtherOutIsExplained) {
  const std::string both = launch("torchrun", 1) + launch("openmpi", 4);
  for (const OtherSource& other_source :
       of(both, facts_of(both, launch("torchrun", 1))).other_sources) {
    EXPECT_TRUE(other_source.is_explained) << other_source.source << ": " << other_source.note;
  }
  const Resolution r = of("RANK=7\nWORLD_SIZE=8\nLOCAL_RANK=7\n" + launch("openmpi", 2));
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_FALSE(r.other_sources.at(0).is_explained) << "a script may have set it";
}

TEST(Ancestors, AreReadOnlyIfLaunchersHaveToBeToldApart) {
  const auto needs = [](const std::string& dump) {
    return needs_ancestors(Env::parse(dump), Facts{});
  };
  EXPECT_FALSE(needs(""));
  EXPECT_FALSE(needs(launch("openmpi", 2) + "PMIX_NAMESPACE=7\nPMIX_RANK=1\n"));
  EXPECT_FALSE(needs(launch("slurm", 2) + "PMI_RANK=1\nPMI_SIZE=2\nRANK=0\n"));
  EXPECT_TRUE(needs(launch("slurm", 2) + "PMI_RANK=0\nPMI_SIZE=4\n"));
  EXPECT_TRUE(needs(launch("torchrun", 2) + launch("slurm", 2)));
  EXPECT_TRUE(needs(launch("torchrun", 1) + "PMIX_RANK=0\n"));
  EXPECT_FALSE(needs(launch("torchrun", 2) + launch("slurm", 2) + "HPCBOOT_METHODS=slurm\n"));
  EXPECT_FALSE(needs(launch("torchrun", 2) + launch("slurm", 2) + "HPCBOOT_RANK=0\n"));
}

TEST(Ancestors, AreThoseOfThisProcess) {
  const auto ancestors = ancestors_of_this_process(Env(), std::nullopt);
  ASSERT_FALSE(ancestors.empty());
  EXPECT_EQ(ancestors[0].process_id, getppid());
  EXPECT_FALSE(ancestors[0].name.empty());
  EXPECT_LE(ancestors.size(), 32U);
  for (const Ancestor& ancestor : ancestors)
    EXPECT_THAT(ancestor.held.value_or(std::vector<std::string>{}), IsEmpty());
}

// A program that overwrote its process title leaves nothing of its environment either, so what it
// had cannot be told.
TEST(Ancestors, WithoutAnEnvironmentMayHaveHeldAnyLauncher) {
  std::array<int, 2> answers{};
  std::array<int, 2> starts{};
  ASSERT_EQ(pipe2(answers.data(), O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(starts.data(), O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const bool is_child = fork() == 0;
    if (!is_child) {
      const char* const none = nullptr;
      execle("/bin/sleep", "sleep", "60", nullptr, &none);
      _exit(1);
    }
    char answer = 0;
    close(starts[1]);
    (void)!read(starts[0], &answer, 1);  // until the parent has become another program
    const auto ancestors = ancestors_of_this_process(Env(), std::nullopt);
    const bool is_parent = !ancestors.empty() && ancestors[0].name == "sleep";
    answer = !is_parent ? 'x' : ancestors[0].held ? 'h' : '?';
    (void)!write(answers[1], &answer, 1);
    _exit(0);
  }
  close(starts[1]);
  close(answers[1]);
  char answer = 0;
  EXPECT_EQ(read(answers[0], &answer, 1), 1);
  EXPECT_EQ(answer, '?');
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  close(starts[0]);
  close(answers[0]);
}

TEST(Ancestors, ALauncherIsHeldWithItsOwnValuesOnly) {
  const Env env = Env::parse(launch("torchrun", 1) + launch("openmpi", 2) +
                             "OMPI_MCA_orte_hnp_uri=7\nPMIX_RANK=1\n");
  const auto held = [&](const std::string& dump) {
    return launchers_seen(env, Env::parse(dump)).held;
  };
  EXPECT_THAT(held(launch("torchrun", 1)), ElementsAre("torchrun"));
  EXPECT_THAT(held(launch("torchrun", 1) + "MASTER_PORT=1\n"), IsEmpty()) << "another torchrun";
  EXPECT_THAT(held(launch("openmpi", 2) + "OMPI_MCA_orte_hnp_uri=7\n"), ElementsAre("openmpi"));
  EXPECT_THAT(held(launch("openmpi", 2) + "OMPI_MCA_orte_hnp_uri=6\n"), IsEmpty())
      << "another mpirun of the same size";
  EXPECT_THAT(held(launch("openmpi", 2)), IsEmpty());
  EXPECT_THAT(held("PMIX_RANK=1\n"), ElementsAre("pmix"));
}

// A wrapper script that changes one variable of the outer launch does not create a new launch;
// otherwise rank 0 and rank 1 would find different launchers.
TEST(Nesting, AVariableThatAScriptChangedProvesNothing) {
  const std::string agent = launch("torchrun", 2);
  const auto changed = [&](const std::string& outer, const std::string& inner) {
    Facts facts;
    const auto seen = [&](const std::string& environment) {
      return launchers_seen(Env::parse(outer + inner), Env::parse(environment));
    };
    const LaunchersSeen script = seen(agent + inner);
    const LaunchersSeen launcher = seen(agent);
    facts.ancestors = {{"wrap.sh", 12, script.held, false, script.changed},
                       {"mpirun", 11, launcher.held, false, launcher.changed}};
    return facts;
  };
  for (const char* variable : {"MASTER_PORT=29999\n", "LOCAL_RANK=0\n", "MASTER_ADDR=n7\n"}) {
    const std::string outer = agent + variable;
    for (const int size : {1, 4}) {
      const std::string inner = launch("openmpi", size);
      expect_error(
          ErrorCode::ambiguous_environment, [&] { of(outer + inner, changed(outer, inner)); },
          "do not show it");
    }
    // Matching sizes do not override the evidence of the launcher's own environment.
    const std::string inner = launch("openmpi", 2);
    const std::string agents = outer + "GROUP_WORLD_SIZE=2\nWORLD_SIZE=4\n";
    expect_error(
        ErrorCode::ambiguous_environment, [&] { of(agents + inner, changed(agents, inner)); },
        "do not show it");
  }
}

TEST(Ancestors, TellAChangedLaunchFromNone) {
  const Env env = Env::parse(launch("torchrun", 2) + launch("openmpi", 2));
  const auto seen = [&](const std::string& dump) {
    return launchers_seen(env, Env::parse(dump)).changed;
  };
  EXPECT_THAT(seen(launch("torchrun", 2)), IsEmpty());
  EXPECT_THAT(seen(launch("torchrun", 2) + "MASTER_PORT=1\n"), ElementsAre("torchrun"));
  EXPECT_THAT(seen(launch("torchrun", 1) + launch("openmpi", 1)),
              ElementsAre("torchrun", "openmpi"));
  EXPECT_THAT(seen("MASTER_ADDR=n1\nMASTER_PORT=1\nRANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\n"),
              IsEmpty())
      << "a script exports these for many reasons";
  EXPECT_EQ((Ancestor{"sh", 1, {{"openmpi"}}, false, {"torchrun"}}.lacks("torchrun")), false);
  EXPECT_EQ((Ancestor{"sh", 1, {{"openmpi"}}, false, {"torchrun"}}.lacks("openmpi")), false);
  EXPECT_EQ((Ancestor{"sh", 1, {{"openmpi"}}, false, {"torchrun"}}.lacks("hydra")), true);
  EXPECT_EQ((Ancestor{"sh", 1, {}, false}.lacks("hydra")), std::nullopt);
}

// Hydra passes the batch script's SLURM_TASK_PID and SLURMD_NODENAME to ranks on other hosts.
TEST(Ancestors, AStepIsHeldWithTheTaskOfAnother) {
  const Env env = Env::parse(launch("hydra", 4) + launch("slurm", 1) + "SLURM_TASK_PID=100\n");
  EXPECT_THAT(launchers_seen(env, Env::parse(launch("slurm", 1))).held, ElementsAre("slurm"));
  EXPECT_THAT(launchers_seen(env, Env::parse(launch("slurm", 2))).held, IsEmpty());
}

}  // namespace
}  // namespace hpcboot
