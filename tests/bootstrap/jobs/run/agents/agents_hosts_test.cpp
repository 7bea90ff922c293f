#include <gmock/gmock.h>

#include <csignal>
#include <fstream>

#include "agents_of_scripts.hpp"
#include "hpcboot/version.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "jobs/run/agents/frames.hpp"
#include "support/temporary_folder.hpp"

namespace {

using hpcboot::test::count;
using hpcboot::test::has_gone;
using hpcboot::test::lines_of;
using hpcboot::test::pids_of;
using hpcboot::test::run;
using hpcboot::test::RunOutcome;
using hpcboot::test::RunProcess;
using hpcboot::test::script;
using hpcboot::test::TemporaryFolder;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Agents, TellEachRankItsPlaceOverTwoHosts) {
  const RunOutcome outcome = run(
      script({2, 1},
             "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK "
             "$HPCBOOT_NUM_NODES $OF_THE_PLAN $HPCBOOT_RUN_ID; echo $MASTER_ADDR:$MASTER_PORT"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* line : {"0 3 0 2 0 2 yes r1\n", "1 3 1 2 0 2 yes r1\n", "2 3 0 1 1 2 yes r1\n"})
    EXPECT_THAT(outcome.out, HasSubstr(line));
  std::string endpoint;
  for (const std::string& line : lines_of(outcome.out)) {
    if (line.find(':') == std::string::npos) continue;
    EXPECT_TRUE(endpoint.empty() || endpoint == line) << line;
    endpoint = line;
  }
  EXPECT_THAT(endpoint, Not(AllOf(StartsWith(":"), EndsWith(":"))));
}

TEST(Agents, MeetAtTheLoopbackOnOneHost) {
  EXPECT_THAT(run(script({1}, "echo $MASTER_ADDR:$MASTER_PORT")).out, StartsWith("127.0.0.1:"));
}

TEST(Agents, NameAHostThatIsLost) {
  RunProcess process(script({1, 2}, "echo pid $PPID $RANK; echo pid $$; exec sleep 1000"));
  while (pids_of(process.out()).size() < 6 || process.out().back() != '\n') process.await_more();
  for (const std::string& line : lines_of(process.out())) {
    if (line.size() > 2 && line.substr(line.size() - 2) == " 2") kill(std::stoi(line.substr(4)), 9);
  }
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 44);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("host n1 was lost: ranks 1, 2; its env was terminated by signal 9 (Killed)"));
  EXPECT_THAT(outcome.err, HasSubstr("check n1, or start the run without it"));
  for (const int pid : pids_of(outcome.out)) EXPECT_TRUE(has_gone(pid)) << pid;
}

TEST(Agents, SayWhatEndedTheAgentOfThisHost) {
  RunProcess process(script({1}, "echo pid $PPID; exec sleep 1000"));
  process.await("\n");
  kill(pids_of(process.out()).at(0), SIGKILL);
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 44);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("rank 0; its agent was terminated by signal 9 (Killed)\n"),
                    Not(HasSubstr("without it"))));
}

TEST(Agents, CountNoHostAsLostOnceTheyAreToldToEnd) {
  RunProcess process(
      script({1, 1}, "trap 'echo got' TERM; echo pid $PPID $RANK; while :; do sleep 0.1; done"));
  while (pids_of(process.out()).size() < 2 || process.out().back() != '\n') process.await_more();
  process.signal(SIGTERM);
  while (count(process.out(), "got\n") < 2) process.await_more();
  for (const std::string& line : lines_of(process.out())) {
    if (line.rfind("pid ", 0) == 0 && line.back() == '1') kill(std::stoi(line.substr(4)), SIGKILL);
  }
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 128 + SIGTERM);
  EXPECT_THAT(outcome.err, Not(HasSubstr("hpcboot run")));
}

TEST(Agents, NameTheHostsThatDoNotAnswerInTime) {
  RunProcess::Options options = script({1, 1}, "echo started");
  options.shell = {"sh", "-c", "echo 'Connecting to n1' >&2; exec sleep 1000", "sh"};
  options.request.timeout = std::chrono::seconds(1);
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 32);
  EXPECT_THAT(outcome.err, StartsWith("n1: Connecting to n1\n"));
  EXPECT_THAT(outcome.err, HasSubstr("no agent within 1 s: n1: no answer: Connecting"));
  EXPECT_EQ(outcome.out, "");
}

TEST(Agents, SayWhySshFailed) {
  RunProcess::Options options = script({1, 1}, "echo started");
  options.shell = {"sh", "-c", "echo 'ssh: no route to n1' >&2; exit 255", "sh"};
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 30);
  EXPECT_THAT(outcome.err,
              HasSubstr("no agent on n1: its sh ended with exit code 255: ssh: no route"));
  options.shell = {"/no/such/ssh"};
  EXPECT_THAT(run(options).err, HasSubstr("/no/such/ssh: No such file or directory"));
}

TEST(Agents, RefuseAShellThatPrintsWhenItStarts) {
  RunProcess::Options options = script({1, 1}, "echo started");
  options.shell = {"sh", "-c", "echo 'Welcome'; exec \"$@\"", "sh"};
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 31);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("n1: not a message of hpcboot run: 'Welcome"), HasSubstr(".bashrc")));
}

// An agent that sends the contents of a file and then runs `rest`.
RunProcess::Options with_agent_that_says(const TemporaryFolder& folder, const std::string& bytes,
                                         const std::string& rest, int ranks = 1) {
  const auto file = folder.path() / "frames";
  std::ofstream(file, std::ios::binary) << bytes;
  RunProcess::Options options = script({ranks}, "");
  options.is_first_remote = true;
  options.shell = {"sh", "-c", "cat " + file.string() + "; " + rest, "sh"};
  return options;
}

std::string hello_of(const std::string& version) {
  return to_bytes(hpcboot::run::FrameKind::hello,
                  to_payload(hpcboot::run::AgentHello{version, "n0", "127.0.0.1", 20001}));
}

TEST(Agents, RefuseOneOfAnotherVersion) {
  const TemporaryFolder folder;
  const RunOutcome outcome =
      run(with_agent_that_says(folder, hello_of("0.0.7"), "exec sleep 1000"));
  EXPECT_EQ(outcome.exit_code, 30);
  EXPECT_THAT(outcome.err, HasSubstr("n0: the agent runs hpcboot 0.0.7, this process "));
}

TEST(Agents, CountAHostAsLostThatIsSilentOrSpeaksNonsense) {
  const TemporaryFolder folder;
  const std::string hello = hello_of(std::string(hpcboot::version()));
  RunProcess::Options options = with_agent_that_says(folder, hello, "exec sleep 1000");
  options.silence = std::chrono::seconds(1);
  const RunOutcome silent = run(options);
  EXPECT_EQ(silent.exit_code, 44);
  EXPECT_THAT(silent.err, HasSubstr("host n0 was lost: rank 0; no message from it for 1 s"));
  options = with_agent_that_says(folder, hello, "exit 1", 5);
  EXPECT_THAT(run(options).err, HasSubstr("host n0 was lost: ranks 0-4; "));
  // After the order to start, which is the second frame and has the kind G.
  options = with_agent_that_says(folder, hello, "grep -qm1 G; echo nonsense; exec sleep 1000");
  const RunOutcome nonsense = run(options);
  EXPECT_EQ(nonsense.exit_code, 44);
  EXPECT_THAT(nonsense.err, HasSubstr("host n0 was lost: rank 0; "));
}

TEST(Agents, HearTheRunWhileNothingHappens) {
  RunProcess::Options options = script({1, 1}, "sleep 6; echo done");
  options.silence = std::chrono::seconds(3);
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "done\ndone\n");
}

TEST(Agents, EndWithTheErrorOfAnAgentThatCannotStartItsRanks) {
#ifdef HPCBOOT_SANITIZED
  GTEST_SKIP() << "UBSan opens a pipe to look at an object, and takes its type for wrong without";
#endif
  RunProcess::Options options = script({1, 8}, "exec sleep 1000");
  options.shell = {"sh", "-c", "ulimit -n 24; exec \"$@\"", "sh"};
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 30);
  EXPECT_THAT(outcome.err, HasSubstr("found:    n1: pipe: Too many open files\n"));
  EXPECT_THAT(outcome.err, HasSubstr("ulimit -n"));
}

TEST(Agents, TakeNoWordAboutARankThatIsAnotherOnes) {
  const TemporaryFolder folder;
  const std::string hello = hello_of(std::string(hpcboot::version()));
  hpcboot::run::RankEnd end;
  end.rank = 7;
  for (const std::string& frame :
       {to_bytes(hpcboot::run::FrameKind::ended, to_payload(end)),
        to_bytes(hpcboot::run::FrameKind::output, to_payload(hpcboot::run::RankBytes{7, "x"}))}) {
    const auto file = folder.path() / "later";
    std::ofstream(file, std::ios::binary) << frame;
    const RunOutcome outcome = run(with_agent_that_says(
        folder, hello, "grep -qm1 G; cat " + file.string() + "; exec sleep 1000"));
    EXPECT_EQ(outcome.exit_code, 44);
    EXPECT_THAT(outcome.err, HasSubstr("about rank 7, which it does not run"));
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
