#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/redact.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/sanitize.hpp"
#include "json/capture_folder.hpp"
#include "support/paths.hpp"

// Requirements for every launcher: its list of variables is complete, its mark differs from an
// ordinary environment, an incomplete set is refused, and capture, replay and sanitize follow from
// the list.
namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

Variables variables_of(const Env& env) {
  return {env.variables().begin(), env.variables().end()};
}

// An environment of the launcher, with its facts.
struct Example {
  std::string name;
  Env env;
  Facts facts;
  ResolveOptions options;
};

// Launchers without golden cases: they remain if a launcher's own variables are absent.
const std::map<std::string, Variables>& minimal_examples() {
  static const std::map<std::string, Variables> table = {
      {"explicit",
       {{"HPCBOOT_RANK", "1"}, {"HPCBOOT_WORLD_SIZE", "2"}, {"HPCBOOT_LOCAL_RANK", "1"}}},
      {"generic", {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}}},
      // Their numbers are not enough for the answer that golden cases require.
      {"condor", {{"_CONDOR_PROCNO", "1"}, {"_CONDOR_NPROCS", "2"}}},
      {"ascend",
       {{"RANK_TABLE_FILE", "/t.json"}, {"RANK_ID", "1"}, {"RANK_SIZE", "2"}, {"DEVICE_ID", "1"}}},
      {"jax", {{"JAX_PROCESS_ID", "1"}, {"JAX_NUM_PROCESSES", "2"}}},
      {"pbsdsh", {{"PBS_TASKNUM", "20000002"}, {"PBS_JOBID", "1.pbs"}}},
      {"alps", {{"ALPS_APP_PE", "1"}}},
      {"blaunch", {{"LSF_PM_TASKID", "2"}}},
      {"mpt", {{"MPT_MPI_RANK", "1"}}},
      {"qrsh", {{"SGE_PE_TASK_ID", "1.n2"}}},
      {"pmix", {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-n1-1@1"}}},
      {"pmi2",
       {{"PMI_RANK", "1"},
        {"PMI_SIZE", "2"},
        {"PMI_LOCAL_RANK", "1"},
        {"PMI_LOCAL_SIZE", "2"},
        {"PMI_JOBID", "1.0"}}},
  };
  return table;
}

// The chosen launcher, and whether its data are complete; "" if the environment is refused.
std::string chosen(const Env& env, const Facts& facts, const ResolveOptions& options) {
  try {
    return resolve(env, facts, options).launcher;
  } catch (const Error& error) {
    return error.code() == ErrorCode::needs_exchange ? "exchange" : "";
  }
}

std::vector<Example> examples_of(const std::string& launcher) {
  std::vector<Example> examples;
  for (const auto& entry : fs::directory_iterator(test::golden_environments())) {
    if (!entry.is_directory()) continue;
    const std::string folder = entry.path().string();
    for (const std::string& name : list_capture(folder)) {
      CapturedRank rank = read_captured_rank(folder, name);
      if (chosen(rank.env, rank.facts, rank.options) != launcher) continue;
      examples.push_back({entry.path().filename().string() + "/" + name, std::move(rank.env),
                          std::move(rank.facts), std::move(rank.options)});
    }
  }
  const auto minimal = minimal_examples().find(launcher);
  if (minimal != minimal_examples().end())
    examples.push_back({"minimal", Env(minimal->second), {}, {}});
  return examples;
}

class Launcher : public testing::TestWithParam<const LaunchSource*> {
 protected:
  const LaunchSource& launcher_ = *GetParam();
  const std::vector<Example> examples_ = examples_of(std::string(launcher_.name));
};

TEST_P(Launcher, SaysWhoSetsItsVariablesAndWhereThatIsDocumented) {
  EXPECT_FALSE(launcher_.set_by.empty());
  EXPECT_FALSE(launcher_.documented.empty());
  EXPECT_FALSE(launcher_.why_here.empty());
  EXPECT_FALSE(launcher_.cannot_know.empty());
}

TEST_P(Launcher, ListsEachVariableOnceAndExceptionsBeforeTheirFamily) {
  std::set<std::string_view> seen;
  bool has_identity = false;
  for (const LaunchVariable& variable : launcher_.variables) {
    EXPECT_TRUE(seen.insert(variable.name).second) << variable.name;
    EXPECT_EQ(launcher_.variables.find(variable.name), &variable)
        << variable.name << " is covered by an entry before it";
    has_identity = has_identity || variable.kind == VariableKind::identity;
  }
  EXPECT_TRUE(has_identity);
}

TEST_P(Launcher, HasAnExample) {
  EXPECT_FALSE(examples_.empty()) << "add a golden case (tests/golden/README.md)";
}

TEST_P(Launcher, IsAbsentInAnOrdinaryEnvironment) {
  const Env env(Variables{{"HOME", "/home/u"}, {"PATH", "/bin"}, {"HOSTNAME", "n1"}});
  EXPECT_EQ(launcher_.detect(env, {}).match, Match::absent);
}

TEST_P(Launcher, IsNotToldBySettings) {
  Variables settings;
  for (const LaunchVariable& variable : launcher_.variables) {
    if (variable.kind == VariableKind::setting && variable.name.back() != '*')
      settings.emplace(variable.name, "1");
  }
  EXPECT_NE(launcher_.detect(Env(settings), {}).match, Match::present);
}

// A lost variable never makes a rank the only one.
TEST_P(Launcher, NeverAnswersAloneIfAVariableIsMissing) {
  for (const Example& example : examples_) {
    for (const LaunchVariable& variable : launcher_.variables) {
      if (variable.use != VariableUse::required || !example.env.has(variable.name)) continue;
      Variables left = variables_of(example.env);
      left.erase(std::string(variable.name));
      EXPECT_NE(chosen(Env(left), example.facts, example.options), "single")
          << example.name << " without " << variable.name;
    }
  }
}

TEST_P(Launcher, IsTheSameAfterACapture) {
  for (const Example& example : examples_) {
    const Env captured = Env::parse(redact(example.env).dump());
    EXPECT_EQ(chosen(captured, example.facts, example.options),
              chosen(example.env, example.facts, example.options))
        << example.name;
    for (const LaunchVariable& variable : launcher_.variables) {
      if (variable.kind == VariableKind::secret || !example.env.has(variable.name)) continue;
      EXPECT_TRUE(captured.has(variable.name)) << variable.name << " of " << example.name;
    }
  }
}

TEST_P(Launcher, ASecretIsNotCaptured) {
  for (const LaunchVariable& variable : launcher_.variables) {
    if (variable.kind != VariableKind::secret) continue;
    const std::string name(variable.name);
    const Env env(Variables{{name, "xyz"}});
    EXPECT_EQ(redact(env).dump(), name + "=" + std::string(kRedacted) + "\n");
    EXPECT_EQ(redact(env, Keep::all_variables).dump(), name + "=" + std::string(kRedacted) + "\n");
  }
}

TEST_P(Launcher, IsGoneAfterSanitize) {
  for (const Example& example : examples_) {
    Variables left = variables_of(example.env);
    for (const std::string& name : variables_to_unset(example.env, Inherit::allocation)) {
      left.erase(name);
    }
    EXPECT_NE(launcher_.detect(Env(left), {}).match, Match::present) << example.name;
    for (const LaunchVariable& variable : launcher_.variables) {
      if (variable.kind != VariableKind::identity || variable.name.back() == '*') continue;
      EXPECT_EQ(left.count(std::string(variable.name)), 0U)
          << variable.name << " of " << example.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Launcher, testing::ValuesIn(launch_sources()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hpcboot
