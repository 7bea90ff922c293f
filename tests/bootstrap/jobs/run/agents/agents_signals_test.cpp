#include <gmock/gmock.h>

#include <csignal>

#include "agents_of_scripts.hpp"

namespace {

using hpcboot::test::count;
using hpcboot::test::has_gone;
using hpcboot::test::lines_of;
using hpcboot::test::pids_of;
using hpcboot::test::run;
using hpcboot::test::RunOutcome;
using hpcboot::test::RunProcess;
using hpcboot::test::script;
using testing::HasSubstr;

TEST(Agents, HandSignalsOnUnchangedAndOnce) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGHUP, SIGINT, SIGTERM}) {
    RunProcess process(
        script({1, 1}, "trap 'echo got; got=1' " + std::to_string(number) +
                           "; echo ready; until [ $got ]; do sleep 0.05; done; sleep 0.3; exit 0"));
    while (count(process.out(), "ready\n") < 2) process.await_more();
    process.signal(number);
    const RunOutcome outcome = process.finish();
    EXPECT_EQ(outcome.exit_code, 0) << number << outcome.err;
    EXPECT_EQ(count(outcome.out, "got\n"), 2U) << number;
  }
}

TEST(Agents, AreOutOfReachOfSignalsToTheSession) {
  const RunOutcome outcome = run(script({1, 1}, "cut -d' ' -f6 /proc/$PPID/stat"));
  for (const std::string& line : lines_of(outcome.out))
    EXPECT_NE(line, std::to_string(getsid(0))) << "the run's own";
  EXPECT_EQ(lines_of(outcome.out).size(), 2U);
}

TEST(Agents, KillOnTheSecondSignalAndSaySo) {
  RunProcess process(script({1, 1},
                            "trap 'echo got' INT; sleep 1000 & echo pid $!; echo pid $$; "
                            "while :; do wait; done"));
  while (pids_of(process.out()).size() < 4 || process.out().back() != '\n') process.await_more();
  process.signal(SIGINT);
  while (count(process.out(), "got\n") < 2) process.await_more();
  process.signal(SIGINT);  // the same at once: still the first request
  usleep(1100000);
  process.signal(SIGINT);
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL);
  EXPECT_EQ(outcome.err, "hpcboot run: second signal: killing the ranks\n");
  EXPECT_EQ(count(outcome.out, "got\n"), 2U);
  for (const int pid : pids_of(outcome.out)) EXPECT_TRUE(has_gone(pid)) << pid;
}

TEST(Agents, KillWhatHasNotEndedAfterTheGrace) {
  RunProcess::Options options =
      script({1}, "trap '' TERM; echo ready; while :; do sleep 0.1; done");
  options.grace = std::chrono::milliseconds(300);
  RunProcess process(options);
  process.await("ready\n");
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 128 + SIGKILL);
}

TEST(Agents, StopAndGoOnTogether) {
  // No shell: after vfork() it would wait for its stopped child in state D.
  RunProcess process(script({1}, "echo pid $$; exec sleep 1000"));
  process.await("\n");
  const int pid = pids_of(process.out()).at(0);
  process.signal(SIGTSTP);
  EXPECT_TRUE(hpcboot::test::has_state(pid, 'T'));
  EXPECT_TRUE(hpcboot::test::has_state(process.child().pid(), 'T'));
  process.signal(SIGCONT);
  EXPECT_TRUE(hpcboot::test::has_state(pid, 'S'));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 128 + SIGTERM);
}

TEST(Agents, MayBeStoppedForLongerThanTheyMayBeSilent) {
  RunProcess::Options options = script({1, 1}, "echo pid $$; exec sleep 1000");
  options.silence = std::chrono::seconds(3);
  RunProcess process(options);
  while (pids_of(process.out()).size() < 2 || process.out().back() != '\n') process.await_more();
  process.signal(SIGTSTP);
  EXPECT_TRUE(hpcboot::test::has_state(process.child().pid(), 'T'));
  usleep(5500000);
  process.signal(SIGCONT);
  for (const int pid : pids_of(process.out())) EXPECT_TRUE(hpcboot::test::has_state(pid, 'S'));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 128 + SIGTERM);
}

TEST(Agents, MayBeStoppedBeforeTheRanksAreThere) {
  RunProcess::Options options = script({1, 1}, "echo started");
  options.shell = {"sh", "-c", "echo waiting >&2; sleep 3; exec \"$@\"", "sh"};
  RunProcess process(options);
  process.await_error("waiting\n");
  process.signal(SIGTSTP);
  EXPECT_TRUE(hpcboot::test::has_state(process.child().pid(), 'T'));
  process.signal(SIGCONT);
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "started\nstarted\n");
}

TEST(Agents, EndBeforeTheRanksAreThereWhenTheyAreTold) {
  RunProcess::Options options = script({1, 1}, "echo started");
  options.shell = {"sh", "-c", "echo waiting >&2; exec sleep 1000", "sh"};
  for (const int number : {SIGINT, SIGQUIT}) {
    RunProcess process(options);
    process.await_error("waiting\n");
    process.signal(number);
    EXPECT_EQ(process.finish().exit_code, 128 + number);
  }
}

TEST(Agents, NameTheFailureThatCameBeforeASignal) {
  RunProcess process(
      script({2},
             "if [ $RANK = 0 ]; then sleep 0.3; exit 3; fi; "
             "trap 'echo told' TERM; trap 'exit 0' INT; while :; do sleep 0.05; done"));
  process.await("told\n");
  process.signal(SIGINT);
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("hpcboot run: rank 0 of 2 on n0 (pid "));
}

TEST(Agents, KillOnASecondSignalOfAnotherKindAtOnce) {
  RunProcess process(script({1}, "trap 'echo got' INT; echo ready; while :; do sleep 0.05; done"));
  process.await("ready\n");
  process.signal(SIGINT);
  process.await("got\n");
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 128 + SIGKILL);
}

}  // namespace
