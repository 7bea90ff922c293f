#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "agents_of_scripts.hpp"
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
using testing::HasSubstr;

TEST(Agents, ShowTheOutputOfEightRanksInWholeLinesEachOnItsStream) {
  const std::string line(100, 'x');
  const RunOutcome outcome = run(script({8}, "for i in 1 2 3 4 5 6 7 8 9; do printf " + line +
                                                 "; echo $RANK; done; echo e$RANK >&2"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 72U);
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(count(outcome.out, line + std::to_string(rank) + "\n"), 9U);
    EXPECT_EQ(count(outcome.err, "e" + std::to_string(rank) + "\n"), 1U);
  }
}

TEST(Agents, GoOnWithARankThatClosesItsOutput) {
  const RunOutcome outcome = run(script({2}, "exec >&- 2>&-; sleep 0.3; exit $RANK"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("rank 1 of 2"));
}

TEST(Agents, PassOnFiftyMegabytesWithoutALineEnd) {
  const RunOutcome outcome = run(script({1}, "head -c 50000000 /dev/zero"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.size(), 50000000U);
  EXPECT_EQ(outcome.out.find_first_not_of('\0'), std::string::npos);
}

TEST(Agents, HearSignalsWhileNobodyReadsTheOutput) {
  RunProcess process(script({1}, "echo pid $$; exec yes"));
  process.await("\n");
  const int pid = pids_of(process.out()).at(0);
  usleep(500000);  // until all buffers are full
  process.signal(SIGTERM);
  EXPECT_TRUE(has_gone(pid));
  EXPECT_EQ(process.finish().exit_code, 128 + SIGTERM);
}

// Rank 1 fails once rank 0 is blocked: nothing reads the pipe `ends`.
RunProcess::Options failing_unread(const int (&ends)[2]) {
  RunProcess::Options options =
      script({1, 1},
             "if [ $RANK = 1 ]; then sleep 0.5; exit 7; fi; head -c 3000000 /dev/zero; "
             "exec sleep 1000");
  options.output = ends[1];
  return options;
}

TEST(Agents, NameAFailureWhileNobodyReadsTheOutputAndKeepItAll) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunProcess process(failing_unread(ends));
  close(ends[1]);
  const auto begin = std::chrono::steady_clock::now();
  process.await_error("hpcboot run: rank 1 of 2 on n1 (pid ");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  std::string out(1000000, 'x');
  std::size_t size = 0;
  for (ssize_t more = 1; more > 0; size += static_cast<std::size_t>(more))
    more = read(ends[0], out.data(), out.size());
  close(ends[0]);
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(count(outcome.err, "rank 1 of 2"), 1U);
  EXPECT_GE(size, 1U << 20U) << "what rank 0 could write before it was told to end";
  EXPECT_EQ(outcome.err.find("dropped"), std::string::npos);
}

TEST(Agents, EndAfterAFailureThoughNobodyReadsTheOutput) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunProcess::Options options = failing_unread(ends);
  options.grace = std::chrono::milliseconds(1000);
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("rank 1 of 2 on n1 (pid "));
  EXPECT_THAT(outcome.err, HasSubstr("hpcboot run: standard output was not read for 1 s: the "
                                     "rest of it is dropped\n"));
  close(ends[0]);
  close(ends[1]);
}

TEST(Agents, EndAsSoonAsASlowReaderHasTheLastMessages) {
  constexpr int room = 4096;
  RunProcess process(script(
      {1}, "echo pid $$; sleep 0.3; printf %" + std::to_string(room - 50) + "s x >&2; exit 3"));
  if (fcntl(process.child().err_fd(), F_SETPIPE_SZ, room) != room)
    GTEST_SKIP() << "pages are larger here";
  process.await("\n");
  const int pid = pids_of(process.out()).at(0);
  EXPECT_TRUE(has_gone(pid));
  usleep(500000);  // until only the messages are left, for which the pipe has no room
  const auto begin = std::chrono::steady_clock::now();
  const RunOutcome outcome = process.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("rank 0 of 1"));
}

TEST(Agents, EndAsByItsSignalWhenTheReaderGoes) {
  RunProcess process(script({2}, "echo pid $$; while :; do echo x; sleep 0.05; done"));
  while (pids_of(process.out()).size() < 2 || process.out().back() != '\n') process.await_more();
  process.close_out();
  EXPECT_EQ(process.finish().exit_code, 128 + SIGPIPE);
  for (const int pid : pids_of(process.out())) EXPECT_TRUE(has_gone(pid));
}

// Both write for a second once the reader has gone, so that the run notices.
TEST(Agents, SaveInPeaceWhenTheirStopAlsoEndsTheReader) {
  const TemporaryFolder folder;
  RunProcess process(
      script({1, 1}, "cd " + folder.path().string() +
                         "; trap 'echo got; got=1' INT; trap 'touch again' TERM HUP; echo ready; "
                         "until [ $got ]; do sleep 0.05; done; "
                         "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done; exit 46"));
  while (count(process.out(), "ready\n") < 2) process.await_more();
  process.signal(SIGINT);
  while (count(process.out(), "got\n") < 2) process.await_more();
  process.close_out();
  const RunOutcome outcome = process.finish();
  EXPECT_EQ(outcome.exit_code, 46) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "again")) << "a second signal";
}

TEST(Agents, HaveTheTimeOfAStopWhenTheReaderGoes) {
  const TemporaryFolder folder;
  // Longer than a rank has once another one has failed.
  RunProcess process(script({1}, "cd " + folder.path().string() +
                                     "; trap 'touch again' HUP; "
                                     "trap 'echo told >&2; sleep 6 && touch saved; exit 0' TERM; "
                                     "while :; do echo x; sleep 0.05; done"));
  process.await("x\n");
  process.close_out();
  process.await_error("told\n");
  process.signal(SIGHUP);  // of a terminal that has closed
  EXPECT_EQ(process.finish().exit_code, 128 + SIGPIPE);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "saved"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "again")) << "a second signal";
}

TEST(Agents, EndAndSayWhyWhenTheOutputCannotBeWritten) {
  RunProcess::Options options = script({1}, "echo out; exec sleep 100");
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  options.output = full;
  const RunOutcome outcome = run(options);
  close(full);
  EXPECT_EQ(count(outcome.err,
                  "hpcboot run: standard output cannot be written: No space left on "
                  "device\n"),
            1U)
      << outcome.err;
}

TEST(Agents, GiveTheInputToRank0Alone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "in";
  std::ofstream(file) << std::string(300000, 'x');
  RunProcess::Options options = script({2}, "echo $RANK has $(wc -c)");
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  options.input = fd;
  const RunOutcome outcome = run(options);
  EXPECT_THAT(outcome.out, HasSubstr("0 has 300000\n"));
  EXPECT_THAT(outcome.out, HasSubstr("1 has 0\n"));
  lseek(fd, 0, SEEK_SET);
  options.script = "exec <&-; sleep 0.3; echo done";
  EXPECT_EQ(run(options).exit_code, 0) << "a rank need not read it";
  close(fd);
}

TEST(Agents, ReadNoMoreInputOnceRank0HasEnded) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "in";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, std::uintmax_t{1} << 32U);
  RunProcess::Options options = script({2}, "[ $RANK = 0 ] || sleep 1");
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  options.input = fd;
  EXPECT_EQ(run(options).exit_code, 0);
  EXPECT_LT(lseek(fd, 0, SEEK_CUR), 1 << 20) << "more than fits into rank 0's pipe";
  close(fd);
}

TEST(Agents, WriteALogARank) {
  const TemporaryFolder folder;
  RunProcess::Options options = script({1, 1}, "echo out $RANK; echo err $RANK >&2");
  options.request.output_dir = (folder.path() / "new" / "logs").string();
  const RunOutcome outcome = run(options);
  EXPECT_EQ(hpcboot::test::read_text(folder.path() / "new/logs/rank_0000.out"), "out 0\n");
  EXPECT_EQ(hpcboot::test::read_text(folder.path() / "new/logs/rank_0001.err"), "err 1\n");
  EXPECT_THAT(outcome.out, HasSubstr("out 1\n"));
  options.request.output_dir = "/proc/no";
  const RunOutcome refused = run(options);
  EXPECT_EQ(refused.exit_code, 42);
  EXPECT_THAT(refused.err, HasSubstr("--output-dir"));
}

TEST(Agents, WriteLogsToRegularFilesAlone) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "rank_0000.out";
  RunProcess::Options options = script({1}, "echo new");
  options.request.output_dir = folder.path().string();
  std::ofstream(log) << "an older and longer text\n";
  EXPECT_EQ(run(options).exit_code, 0);
  EXPECT_EQ(hpcboot::test::read_text(log), "new\n");
  const auto refusal = [&] {
    const RunOutcome outcome = run(options);
    EXPECT_EQ(outcome.exit_code, 42);
    std::filesystem::remove(log);
    return outcome.err;
  };
  const auto other = folder.path() / "other";
  std::ofstream(other) << "kept";
  std::filesystem::remove(log);
  std::filesystem::create_symlink(other, log);
  EXPECT_THAT(refusal(), HasSubstr("rank_0000.out: it is a symbolic link"));
  EXPECT_EQ(hpcboot::test::read_text(other), "kept");
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("rank_0000.out: it is a named pipe"));
  std::filesystem::create_directory(log);
  EXPECT_THAT(refusal(), HasSubstr("rank_0000.out: it is a folder"));
}

TEST(Agents, PutThePrefixBeforeLinesOnATerminalAlone) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  RunProcess::Options options = script({1, 1}, "echo out; echo err >&2");
  for (const bool prefix : {true, false}) {
    options.request.prefix = prefix;
    options.output = other;
    const RunOutcome outcome = run(options);
    EXPECT_EQ(outcome.err, "err\nerr\n") << "standard error is not a terminal";
    char shown[256] = {};
    ASSERT_GT(read(terminal, shown, sizeof shown - 1), 0);
    std::string text = shown;
    if (count(text, "\n") < 2) {
      ASSERT_GT(read(terminal, shown, sizeof shown - 1), 0);
      text += shown;
    }
    EXPECT_EQ(count(text, "[0 n0] out\r\n"), prefix ? 1U : 0U) << text;
    EXPECT_EQ(count(text, "[1 n1] out\r\n"), prefix ? 1U : 0U) << text;
    EXPECT_EQ(count(text, "out\r\n"), 2U) << text;
  }
  close(other);
  close(terminal);
}

TEST(Agents, ReadNoTerminalInTheBackground) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(write(terminal, "typed\n", 6), 6);
  RunProcess::Options options = script({1}, "echo ready; read -r word; echo word $word");
  options.input = other;
  RunProcess process(options);
  process.await("ready\n");
  usleep(300000);
  char text[16] = {};
  EXPECT_EQ(read(other, text, sizeof text), 6) << "typed input belongs to the foreground";
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().out, "ready\n");
  close(other);
  close(terminal);
}

}  // namespace
