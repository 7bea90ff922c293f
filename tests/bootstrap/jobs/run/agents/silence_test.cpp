#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "run_process.hpp"
#include "support/temporary_folder.hpp"

// Ranks of agents that stop writing, and a fake gdb.
namespace {

using namespace std::chrono_literals;
using hpcboot::test::RunOutcome;
using hpcboot::test::RunProcess;
using hpcboot::test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SilentRanks : public testing::Test {
 protected:
  RunProcess::Options script(std::vector<int> ranks, const std::string& text,
                             std::chrono::seconds silence) const {
    RunProcess::Options options;
    options.ranks = std::move(ranks);
    options.shell = {"env"};
    options.script = text;
    options.set["PATH"] = folder_.path().string() + ":/usr/bin:/bin";
    options.request.silence = silence;
    return options;
  }

  void put_gdb(const std::string& text) const {
    const auto file = folder_.path() / "gdb";
    std::ofstream(file) << "#!/bin/sh\n" << text;
    chmod(file.c_str(), 0755);
  }

  TemporaryFolder folder_;
};

TEST_F(SilentRanks, AreEndedAfterTheirStacks) {
  put_gdb("echo 'warning: x'; echo 'Thread 1:'; echo '#0 in hang ()'; printf '#1 in \\033[31m\\n'");
  RunProcess::Options options = script({1, 1}, "echo begun; exec sleep 1000", 1s);
  options.request.output_dir = (folder_.path() / "logs").string();
  const RunOutcome outcome = RunProcess(options).finish();
  EXPECT_EQ(outcome.exit_code, 32);
  EXPECT_EQ(outcome.out, "begun\nbegun\n");
  EXPECT_EQ(outcome.err.rfind("hpcboot run: no rank has written anything for 1 s: printing the "
                              "stacks of all ranks, then ending the run\n",
                              0),
            0U)
      << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("rank 0 on "), HasSubstr("rank 1 on "),
                    HasSubstr("(sleep), by gdb:\nThread 1:\n#0 in hang ()\n#1 in \\x1b[31m\n"),
                    HasSubstr("found:    no rank has written anything for 1 s\n"),
                    Not(HasSubstr("warning")), Not(HasSubstr("failed first"))));
  EXPECT_THAT(hpcboot::test::read_text(folder_.path() / "logs/rank_0001.err"),
              AllOf(HasSubstr("rank 1 on "), HasSubstr("#0 in hang ()\n")));
}

TEST_F(SilentRanks, AreToldToEndAndKilledIfTheyDoNot) {
  put_gdb("echo '#0 in hang ()'");
  const RunOutcome outcome =
      RunProcess(script({2}, "trap 'echo told' TERM; echo begun; while :; do sleep 0.1; done", 1s))
          .finish();
  EXPECT_EQ(outcome.exit_code, 32);
  EXPECT_EQ(outcome.out, "begun\nbegun\ntold\ntold\n");
}

TEST_F(SilentRanks, BeginTheirStacksOnALineOfTheirOwn) {
  put_gdb("echo '#0 in hang ()'");
  RunProcess::Options options = script({1}, "printf 50%% >&2; exec sleep 1000", 1s);
  options.request.output_dir = (folder_.path() / "logs").string();
  EXPECT_EQ(RunProcess(options).finish().exit_code, 32);
  EXPECT_THAT(hpcboot::test::read_text(folder_.path() / "logs/rank_0000.err"),
              StartsWith("50%\nrank 0 on "));
}

TEST_F(SilentRanks, AreLeftAloneWhileOneOfThemSpeaks) {
  const RunOutcome outcome =
      RunProcess(
          script({1, 1}, "for i in 1 2 3 4 5 6; do sleep 0.5; [ $RANK = 0 ] || echo $i; done", 2s))
          .finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(SilentRanks, AreLeftAloneForTheTimeInWhichTheRunWasStopped) {
  const std::string file = (folder_.path() / "go on").string();
  RunProcess process(
      script({1}, "echo begun; until [ -e '" + file + "' ]; do sleep 0.05; done", 4s));
  process.await("begun\n");
  process.signal(SIGSTOP);
  usleep(6000000);
  process.signal(SIGCONT);
  usleep(1500000);  // time for a check
  std::ofstream(file) << "yes";
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(SilentRanks, AreEndedThoughTheDebuggerDoesNotEnd) {
  put_gdb("echo $$; exec sleep 1000");
  const RunOutcome outcome = RunProcess(script({1}, "exec sleep 1000", 1s)).finish();
  EXPECT_EQ(outcome.exit_code, 32);
  EXPECT_THAT(outcome.err, HasSubstr("rank 0 on "));
}

TEST_F(SilentRanks, EndAtASignalMeanwhile) {
  put_gdb("echo looking >&2; exec sleep 1000");
  RunProcess process(script({1}, "echo pid $$; exec sleep 1000", 1s));
  process.await_error("ending the run\n");
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 32);
}

}  // namespace
