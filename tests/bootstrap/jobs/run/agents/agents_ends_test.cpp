#include <gmock/gmock.h>

#include <csignal>

#include "agents_of_scripts.hpp"
#include "jobs/run/ranks/left_behind.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "support/temporary_folder.hpp"

namespace {

using hpcboot::run::ChildSpec;
using hpcboot::run::RankChild;
using hpcboot::test::has_gone;
using hpcboot::test::pids_of;
using hpcboot::test::run;
using hpcboot::test::RunOutcome;
using hpcboot::test::RunProcess;
using hpcboot::test::script;
using hpcboot::test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Agents, EndWithTheCodeOfTheFirstRankThatFailsAndNameItLast) {
  const RunOutcome outcome = run(
      script({2, 1}, "if [ $RANK = 2 ]; then echo 'no \033[1mdata' >&2; exit 9; fi; sleep 1000"));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(outcome.err, HasSubstr("no \033[1mdata\n")) << "a rank's own output is not changed";
  EXPECT_THAT(outcome.err, HasSubstr("hpcboot run: rank 2 of 3 on n1 (pid "));
  EXPECT_THAT(outcome.err,
              EndsWith(" failed first: exit code 9; last lines:\n  no \\x1b[1mdata\n"));
}

TEST(Agents, TellTheSignalThatEndedARank) {
  const RunOutcome outcome = run(script({2}, "[ $RANK = 0 ] && kill -SEGV $$; sleep 1000"));
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(outcome.err, EndsWith("failed first: signal 11 (Segmentation fault)\n"));
}

TEST(Agents, CallNoFailureWhatStoppedInOrder) {
  const RunOutcome outcome = run(script({2}, "echo saved >&2; exit 46"));
  EXPECT_EQ(outcome.exit_code, 46);
  EXPECT_THAT(outcome.err, EndsWith(") stopped cleanly: exit code 46\n"));
}

TEST(Agents, KillARankThatIgnoresTheEndOfTheOthers) {
  const RunOutcome outcome =
      run(script({2},
                 "echo pid $$; if [ $RANK = 1 ]; then sleep 0.3; exit 3; fi; trap '' TERM; "
                 "while :; do sleep 0.2; done"));
  EXPECT_EQ(outcome.exit_code, 3);
  for (const int pid : pids_of(outcome.out)) EXPECT_TRUE(has_gone(pid));
}

TEST(Agents, LeaveNothingBehindWhenTheRunIsKilled) {
  RunProcess process(script({1, 1},
                            "trap '' TERM; sleep 1000 & echo pid $!; echo pid $$; wait; "
                            "while :; do sleep 0.1; done"));
  while (pids_of(process.out()).size() < 4 || process.out().back() != '\n') process.await_more();
  process.signal(SIGKILL);
  for (const int pid : pids_of(process.out())) EXPECT_TRUE(has_gone(pid)) << pid;
}

TEST(Agents, LeaveNothingBehindThatHasItsOwnSession) {
  const std::string leaves =
      "setsid sleep 987 >/dev/null 2>&1 & echo pid $!; "
      "bash -c 'set -m; sleep 987 >/dev/null 2>&1 & echo pid $!'; ";
  for (const char* end : {"exit 0", "exit 3", "exec no-such-program"}) {
    // A rank that fails ends the others, so each waits until all have printed theirs.
    const TemporaryFolder said;
    const std::string together = "cd " + said.path().string() +
                                 "; touch $RANK; until [ -e 0 -a -e 1 ]; do sleep 0.01; done; ";
    const RunOutcome outcome = run(script({1, 1}, leaves + together + end));
    EXPECT_EQ(pids_of(outcome.out).size(), 4U);
    for (const int pid : pids_of(outcome.out))
      EXPECT_EQ(hpcboot::test::state_of(pid), 'Z') << "gone before the run";
  }
}

TEST(Agents, LeaveNothingBehindWhenTheAgentOrTheRunIsKilled) {
  for (const bool is_run : {false, true}) {
    RunProcess process(
        script({1},
               "setsid sleep 987 & echo pid $!; bash -c 'set -m; sleep 987 & echo pid $!; wait' & "
               "echo pid $!; echo pid $$; echo agent $PPID; trap '' TERM; while :; do wait; done"));
    process.await("agent ");
    while (pids_of(process.out()).size() < 4 || process.out().back() != '\n') process.await_more();
    const std::string& out = process.out();
    const int agent = std::stoi(out.substr(out.find("agent ") + 6));
    kill(is_run ? process.child().pid() : agent, SIGKILL);
    for (const int pid : pids_of(out)) EXPECT_TRUE(has_gone(pid)) << pid;
    EXPECT_EQ(process.finish().exit_code, is_run ? 128 + SIGKILL : 44);
  }
}

TEST(Agents, LeaveAloneWhatWasThereBefore) {
  // Like the `tee` of a script that replaces itself by exec: it is a child of the new program.
  ChildSpec spec;
  spec.words = {"run"};
  spec.body = [] {
    ChildSpec other;
    other.words = {"sleep", "987"};
    other.own_session = true;
    const RankChild before(other);
    const hpcboot::run::LeftBehind left_behind;
    const RankChild after(other);
    left_behind.kill_all();
    const bool is_right = !before.ended() && hpcboot::test::has_gone(after.pid());
    return is_right ? 0 : 1;
  };
  const RankChild child(spec);
  for (int i = 0; i < 2000 && !child.ended(); ++i) usleep(10000);
  ASSERT_TRUE(child.ended());
  EXPECT_EQ(child.ended()->exit_code, 0);
}

TEST(Agents, NameTheRankThatFailedFirstThoughItsChildHoldsItsPipes) {
  const RunOutcome outcome = run(
      script({2}, "if [ $RANK = 0 ]; then echo why >&2; sleep 5 & exit 3; fi; sleep 0.3; exit 4"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("hpcboot run: rank 0 of 2 on n0 (pid "));
  EXPECT_THAT(outcome.err, EndsWith("exit code 3; last lines:\n  why\n"));
}

// Like a `tee` that has yet to read what the program wrote last.
TEST(Agents, ShowAndNameWhatIsWrittenAfterARankHasFailed) {
  const RunOutcome outcome =
      run(script({2, 1}, "[ $RANK = 1 ] || exec sleep 1000; (sleep 0.1; echo why >&2) & exit 3"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err.rfind("why\n", 0), 0U) << outcome.err;
  EXPECT_THAT(outcome.err, EndsWith("exit code 3; last lines:\n  why\n"));
}

}  // namespace
