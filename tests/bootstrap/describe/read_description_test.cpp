#include "describe/read_description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "describe/owned_description.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Descriptions of launchers: the effect of every key, and the message for a wrong one.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

const std::string kHead = R"(name = "mine"
level = "MPI launcher"
why_here = "it starts inside a job"
set_by = "minerun"
documented = "https://example.org/minerun"
cannot_know = "hosts"
)";
const std::string kRead = "[read]\nrank = \"MINE_RANK\"\nworld_size = \"MINE_SIZE\"\n";

DescribedLauncher described(const std::string& toml) {
  return describe(read_description(toml, "mine.toml"), "mine.toml");
}

LaunchFacts facts_of(const std::string& toml, const std::string& env) {
  return described(toml).launcher->read(Env::parse(env), Facts{});
}

Match match_of(const std::string& toml, const std::string& env) {
  return described(toml).launcher->detect(Env::parse(env), Facts{}).match;
}

void expect_wrong(const std::string& toml, const std::string& found, const std::string& expected,
                  const std::string& remedy = "") {
  expect_error(
      ErrorCode::malformed_file, [&] { read_description(toml, "mine.toml"); }, "mine.toml", found,
      expected, remedy);
}

TEST(Description, TheHeadIsTheLaunchers) {
  const DescribedLauncher mine = described(kHead + kRead);
  ASSERT_NE(mine.launcher, nullptr);
  EXPECT_EQ(mine.scheduler, nullptr);
  EXPECT_EQ(mine.launcher->name, "mine");
  EXPECT_EQ(mine.launcher->level, Level::mpi_launcher);
  EXPECT_EQ(mine.launcher->why_here, "it starts inside a job");
  EXPECT_EQ(mine.launcher->set_by, "minerun");
  EXPECT_EQ(mine.launcher->documented, "https://example.org/minerun");
  EXPECT_EQ(mine.launcher->cannot_know, "hosts");
  EXPECT_EQ(mine.launcher->file, "mine.toml");
}

TEST(Description, EveryNumberIsRead) {
  const std::string toml =
      kHead + kRead +
      "local_rank = \"MINE_L\"\nlocal_size = \"MINE_LS\"\nnode_rank = [\"MINE_N\", \"OLD_N\"]\n"
      "num_nodes = \"MINE_NN\"\n";
  const LaunchFacts facts =
      facts_of(toml, "MINE_RANK=5\nMINE_SIZE=8\nMINE_L=1\nMINE_LS=4\nOLD_N=1\nMINE_NN=2\n");
  EXPECT_EQ(facts.rank, 5);
  EXPECT_EQ(facts.world_size, 8);
  EXPECT_EQ(facts.local_rank, 1);
  EXPECT_EQ(facts.local_size, 4);
  EXPECT_EQ(facts.node_rank, 1);
  EXPECT_EQ(facts.num_nodes, 2);
  EXPECT_EQ(facts.variables.at("node_rank"), "OLD_N");
  EXPECT_EQ(facts.identity, "");
}

TEST(Description, TheLaunchIsNamedByTheFirstVariableThatIsSet) {
  const std::string toml = kHead + kRead + "launch_id = [\"MINE_ID\", \"MINE_PORT\"]\n";
  const std::string ranks = "MINE_RANK=0\nMINE_SIZE=2\nMINE_L=0\n";
  EXPECT_EQ(facts_of(toml, ranks + "MINE_PORT=4\n").identity, "4");
  EXPECT_EQ(facts_of(toml, ranks + "MINE_PORT=4\nMINE_ID=7 8\n").identity, "7 8");
  EXPECT_EQ(facts_of(toml, ranks).identity, "");
}

TEST(Description, APartOfItsEnvironmentIsRefused) {
  const DescribedLauncher mine = described(kHead + kRead);
  for (const char* part : {"MINE_RANK=1\n", "MINE_SIZE=2\n"})
    EXPECT_EQ(match_of(kHead + kRead, part), Match::present) << part;
  EXPECT_EQ(match_of(kHead + kRead, ""), Match::absent);
  expect_error(
      ErrorCode::missing_variable,
      [&] { mine.launcher->read(Env::parse("MINE_RANK=1\n"), Facts{}); }, "MINE_SIZE", "minerun");
  expect_error(
      ErrorCode::malformed_value,
      [&] { mine.launcher->read(Env::parse("MINE_RANK=x\nMINE_SIZE=2\n"), Facts{}); },
      "MINE_RANK='x'");
  expect_error(
      ErrorCode::malformed_value,
      [&] { mine.launcher->read(Env::parse("MINE_RANK=0\nMINE_SIZE=0\n"), Facts{}); },
      "MINE_SIZE='0'");
}

TEST(Description, WhatShowsThatItIsThere) {
  const std::string toml = kHead +
                           "[present]\nall_of = [\"A\"]\nany_of = [\"B\", \"C\"]\n"
                           "none_of = [\"D\"]\nequals = { E = \"y\" }\ndiffers = { F = \"1\" }\n" +
                           kRead;
  EXPECT_EQ(match_of(toml, "A=1\nB=1\nE=y\n"), Match::present);
  EXPECT_EQ(match_of(toml, "A=1\nC=1\nE=y\nF=2\n"), Match::present);
  EXPECT_EQ(match_of(toml, "B=1\nE=y\n"), Match::absent);
  EXPECT_EQ(match_of(toml, "A=1\nE=y\n"), Match::absent);
  EXPECT_EQ(match_of(toml, "A=1\nB=1\nE=n\n"), Match::absent);
  EXPECT_EQ(match_of(toml, "A=1\nB=1\nE=y\nD=1\n"), Match::refused);
  EXPECT_EQ(match_of(toml, "A=1\nB=1\nE=y\nF=1\n"), Match::refused);
}

TEST(Description, WithoutASizeItIsRecognisedAndRefused) {
  const DescribedLauncher mine = described(kHead + "[read]\nrank = \"MINE_RANK\"\n");
  const Env env = Env::parse("MINE_RANK=3\n");
  EXPECT_EQ(mine.launcher->detect(env, Facts{}).match, Match::present);
  expect_error(
      ErrorCode::missing_variable, [&] { mine.launcher->read(env, Facts{}); },
      "minerun started this process (MINE_RANK=3)", "HPCBOOT_RANK");
}

TEST(Description, Traits) {
  const std::string toml =
      kHead +
      "traits = [\"one process a host\", \"ranks in any order\", \"hosts counted by entry\", "
      "\"no job variables\"]\n" +
      kRead;
  const LauncherTraits traits = described(toml).launcher->traits;
  EXPECT_TRUE(traits.one_process_a_host);
  EXPECT_FALSE(traits.orders_ranks_by_host);
  EXPECT_TRUE(traits.counts_hosts_by_entry);
  EXPECT_FALSE(traits.hands_on_job_variables);
  const LaunchFacts facts = facts_of(toml, "MINE_RANK=1\nMINE_SIZE=3\n");
  EXPECT_EQ(facts.local_rank, 0);
  EXPECT_EQ(facts.local_size, 1);
  EXPECT_EQ(facts.node_rank, 1);
  EXPECT_EQ(facts.num_nodes, 3);
  EXPECT_TRUE(facts.any_order);
  const LauncherTraits defaults = described(kHead + kRead).launcher->traits;
  EXPECT_FALSE(defaults.one_process_a_host);
  EXPECT_TRUE(defaults.hands_on_job_variables);
}

TEST(Description, HostsInEveryForm) {
  const auto hosts = [](const std::string& form, const std::string& text) {
    const DescribedLauncher mine =
        described(kHead + kRead + "[hosts]\nvariable = \"H\"\nform = \"" + form + "\"\n");
    const std::map<std::string, std::string> env = {
        {"MINE_RANK", "2"}, {"MINE_SIZE", "3"}, {"H", text}};
    return mine.launcher->read(Env(env), Facts{});
  };
  EXPECT_THAT(hosts("commas", "n1,n2, n1").hosts, ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts("spaces", " n1  n2 ").hosts, ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts("lines", "10.0.0.1\n10.0.0.2\n").hosts, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(hosts("slurm", "n[1-2]").hosts, ElementsAre("n1", "n2"));
  const LaunchFacts placed = hosts("endpoints", "n1:1,n1:2,n2:1");
  EXPECT_THAT(placed.hosts, ElementsAre("n1", "n2"));
  EXPECT_EQ(placed.rank0_host, "n1");
  EXPECT_EQ(placed.local_rank, 0);
  EXPECT_EQ(placed.local_size, 1);
  EXPECT_EQ(placed.node_rank, 1);
  EXPECT_EQ(placed.num_nodes, 2);
  for (const char* field :
       {"hosts", "master_addr", "local_rank", "local_size", "node_rank", "num_nodes"})
    EXPECT_EQ(placed.variables.at(field), "H") << field;
  for (const auto& [form, text] : std::map<std::string, std::string>{{"commas", "n1,,n2"},
                                                                     {"spaces", "n1 $x"},
                                                                     {"lines", "n1 n2\n"},
                                                                     {"endpoints", "n1,n2,n3"}}) {
    expect_error(
        ErrorCode::malformed_value, [&, f = form, t = text] { hosts(f, t); }, "H='");
  }
  expect_error(ErrorCode::malformed_hostlist, [&] { hosts("slurm", "n[1-"); });
  expect_error(
      ErrorCode::inconsistent_placement, [&] { hosts("endpoints", "n1:1,n2:1"); }, "2 endpoints",
      "MINE_SIZE");
}

TEST(Description, HostsThatContradictTheirNumber) {
  const std::string toml = kHead + "traits = [\"one process a host\"]\n" + kRead +
                           "[hosts]\nvariable = \"H\"\nform = \"commas\"\n";
  expect_error(
      ErrorCode::inconsistent_placement,
      [&] { facts_of(toml, "MINE_RANK=0\nMINE_SIZE=3\nH=n1,n2\n"); }, "H has 2 hosts", "MINE_SIZE");
}

TEST(Description, WhereRank0Is) {
  const std::string apart = kHead + kRead + "[master]\naddress = \"A\"\nport = \"P\"\n";
  LaunchFacts facts = facts_of(apart, "MINE_RANK=1\nMINE_SIZE=2\nA=n1\nP=29500\n");
  EXPECT_EQ(facts.rank0_host, "n1");
  EXPECT_EQ(facts.master_port, 29500);
  // Rank 0 may get no address, or one that denotes its own host.
  for (const char* own : {"", "A=localhost\n"}) {
    facts = facts_of(apart, std::string("MINE_RANK=0\nMINE_SIZE=2\n") + own);
    EXPECT_EQ(facts.rank0_host, "");
    EXPECT_TRUE(facts.rank0_knows_itself);
  }
  const std::string together = kHead + kRead + "[master]\nendpoint = \"E\"\n";
  facts = facts_of(together, "MINE_RANK=1\nMINE_SIZE=2\nE=n1:29500\n");
  EXPECT_EQ(facts.rank0_host, "n1");
  EXPECT_EQ(facts.master_port, 29500);
  EXPECT_EQ(facts_of(together, "MINE_RANK=1\nMINE_SIZE=2\nE=n1\n").rank0_host, "n1");
  expect_error(
      ErrorCode::malformed_value, [&] { facts_of(together, "MINE_RANK=1\nMINE_SIZE=2\nE=n1:x\n"); },
      "E='n1:x'");
  const std::string sometimes = apart + "only_if = { MAIN = \"0\" }\n";
  EXPECT_EQ(facts_of(sometimes, "MINE_RANK=1\nMINE_SIZE=2\nA=n1\nMAIN=1\n").rank0_host, "");
  EXPECT_EQ(facts_of(sometimes, "MINE_RANK=1\nMINE_SIZE=2\nA=n1\nMAIN=0\n").rank0_host, "n1");
}

TEST(Description, VariablesHaveKindsAndUses) {
  const DescribedLauncher mine =
      described(kHead + kRead +
                "[variables]\nsetting = [\"MINE_*\"]\nhandle = [\"MINE_FD_*\"]\n"
                "secret = [\"MINE_KEY\"]\nidentity = [\"MINE_HOST\"]\nsize = [\"MINE_SLOTS\"]\n"
                "companion = [\"MINE_JOB\"]\nsubmitter = [\"MINE_O_*\"]\n");
  const VariableList& list = mine.launcher->variables;
  const auto expect = [&](const char* name, VariableKind kind, VariableUse use) {
    const LaunchVariable* found = list.find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->kind, kind) << name;
    EXPECT_EQ(found->use, use) << name;
  };
  expect("MINE_RANK", VariableKind::identity, VariableUse::required);
  expect("MINE_SIZE", VariableKind::size, VariableUse::required);
  expect("MINE_KEY", VariableKind::secret, VariableUse::none);
  expect("MINE_HOST", VariableKind::identity, VariableUse::none);
  expect("MINE_SLOTS", VariableKind::size, VariableUse::none);
  expect("MINE_JOB", VariableKind::companion, VariableUse::none);
  expect("MINE_FD_3", VariableKind::handle, VariableUse::none);
  expect("MINE_O_HOME", VariableKind::submitter, VariableUse::none);
  expect("MINE_DEBUG", VariableKind::setting, VariableUse::none);
}

TEST(Description, ASchedulerAlone) {
  const DescribedLauncher mine = described(
      "name = \"queue\"\nset_by = \"queue\"\ndocumented = \"queue(1)\"\n[job]\n"
      "id = \"Q_ID\"\nstart_command = \"qrun\"\ndistinct = [\"Q_INDEX\"]\n"
      "hosts = \"Q_HOSTS\"\nhosts_form = \"commas\"\nnum_tasks = \"Q_TASKS\"\n");
  EXPECT_EQ(mine.launcher, nullptr);
  ASSERT_NE(mine.scheduler, nullptr);
  EXPECT_EQ(mine.scheduler->start_command, "qrun");
  EXPECT_FALSE(mine.scheduler->read(Env(), {}));
  const auto job =
      mine.scheduler->read(Env::parse("Q_ID=7\nQ_INDEX=3\nQ_HOSTS=n2,n1,n2\nQ_TASKS=4\n"), {});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->scheduler, "queue");
  EXPECT_EQ(job->job_id, "7");
  EXPECT_EQ(job->identity, "7/3");
  EXPECT_THAT(job->hosts, ElementsAre("n2", "n1"));
  EXPECT_EQ(job->num_tasks, 4);
}

TEST(Description, AWrongHeadIsNamed) {
  expect_wrong(kHead + kRead + "lokal_rank = \"A\"\n",
               "mine.toml:10: there is no key read.lokal_rank", "local_rank", "write local_rank");
  expect_wrong("nam = \"x\"\n", "mine.toml:1: there is no key nam", "name", "write name");
  expect_wrong("level = \"pod\"\n", "the key name is missing", "HPCBOOT_METHODS");
  for (const char* name : {"Mine", "1mine", "", "my-launcher", "abcdefghijklmnopqrstuvwxyz"}) {
    expect_wrong("name = \"" + std::string(name) + "\"\n", "mine.toml:1: name", "");
  }
  expect_wrong("name = \"single\"\n", "'single' is reserved", "a name that is not reserved");
  std::string level = kHead;
  level.replace(level.find("MPI launcher"), 12, "MPI lancher");
  expect_wrong(level, "mine.toml:2: level: unknown value 'MPI lancher'", "remote shell",
               "write MPI launcher");
  level.replace(level.find("MPI lancher"), 11, "explicit settings");
  expect_wrong(level, "level: unknown value 'explicit settings'", "MPI launcher");
  std::string short_head = kHead;
  short_head.erase(short_head.find("why_here"),
                   short_head.find("set_by") - short_head.find("why_here"));
  expect_wrong(short_head, "the key why_here is missing", "the reason for its level");
  expect_wrong(kHead + "traits = [\"one host\"]\n", "traits: unknown value 'one host'",
               "one process a host");
  expect_wrong(kHead + "traits = \"one process a host\"\n", "traits: the value is not an array",
               "an array");
}

TEST(Description, WrongValuesAreNamed) {
  expect_wrong(kHead + "[read]\nrank = 3\n",
               "mine.toml:8: read.rank: the value is not a variable name", "SLURM_PROCID");
  expect_wrong(kHead + "[read]\nrank = \"A B\"\n", "read.rank: the value is not a variable name",
               "");
  expect_wrong(kHead + "[read]\nrank = []\n", "read.rank: the array is empty", "");
  expect_wrong(kHead + "[read]\nworld_size = \"A\"\n", "the key read.rank is missing", "");
  expect_wrong(kHead, "the key present.any_of is missing", "");
  expect_wrong(kHead + "read = 3\n", "read: the value is not a table", "[read]");
  expect_wrong(kHead + kRead + "[present]\nequals = \"A\"\n",
               "present.equals: the value is not a table", "{ NAME = \"1\" }");
  expect_wrong(kHead + kRead + "[present]\nequals = { A = 1 }\n", "present.equals.A", "quoted");
  expect_wrong(kHead + kRead + "[hosts]\nvariable = \"A\"\n", "the key hosts.form is missing", "");
  expect_wrong(kHead + kRead + "[hosts]\nform = \"commas\"\n", "hosts.variable is missing", "");
  expect_wrong(kHead + kRead + "[hosts]\nvariable = \"A\"\nform = \"comma\"\n",
               "hosts.form: unknown value 'comma'", "endpoints", "write commas");
  expect_wrong(kHead + kRead + "[master]\naddress = \"A\"\nendpoint = \"E\"\n",
               "master.endpoint: address or port is set as well", "HOST:PORT");
  expect_wrong(kHead + kRead + "[variables]\nsetting = [\"A*\"]\n", "variables.setting",
               "a prefix such as");
  expect_wrong(kHead + kRead + "[variables]\nsetting = [\"AB\"]\nsize = [\"AB\"]\n",
               "AB is listed in [variables] twice", "");
  expect_wrong(kHead + kRead + "[job]\nnodefile = \"F\"\n", "the key job.id is missing", "");
  expect_wrong("name = \"x\"\nset_by = \"x\"\ndocumented = \"x\"\n", "the key level is missing",
               "[job]");
  expect_wrong("name = \"x\"\nset_by = \"x\"\ndocumented = \"x\"\n" + kRead +
                   "[job]\nid = \"I\"\nstart_command = \"x\"\n",
               "read: this key belongs to a launcher", "");
  expect_wrong("name = \n", "mine.toml:1", "TOML");
  expect_wrong("set_by = \"" + std::string(400, 'x') + "\"\nname = \"x\"\ndocumented = \"x\"\n",
               "set_by: the value is not a single-line string", "300");
}

}  // namespace
}  // namespace hpcboot
