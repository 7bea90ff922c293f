#include "jobs/run/ranks/rank_stacks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/run/ranks/debuggers.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "support/temporary_folder.hpp"

// With a script as debugger; real debuggers are tested in tests/shell/silence.bats.
namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;

class RankStacksTest : public testing::Test {
 protected:
  RankStacksTest() : rank_(sleeping()) {}

  void debugger(const std::string& name, const std::string& script) const {
    const auto path = folder_.path() / name;
    test::write_text(path, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  // What is written, with "PROCESS" instead of the process id.
  std::string stacks() {
    std::string text;
    RankStacks stacks("rank 3", rank_.pid(), {{"PATH", folder_.path().string()}},
                      [&](const std::string& lines) { text += lines; });
    const auto until = Clock::now() + 20s;
    while (!stacks.is_done() && Clock::now() < until) {
      PollSet set;
      stacks.add_to(set);
      set.wait(std::min(stacks.next_time(), Clock::now() + 50ms));
      stacks.handle(set);
    }
    EXPECT_TRUE(stacks.is_done());
    const std::string number = "process " + std::to_string(rank_.pid());
    for (std::size_t at = 0; (at = text.find(number, at)) != std::string::npos;)
      text.replace(at, number.size(), "PROCESS");
    return text;
  }

  bool has_ended() {
    for (int i = 0; i < 200 && !rank_.ended(); ++i) usleep(10000);
    return rank_.ended().has_value();
  }

  RankChild rank_;

 private:
  static ChildSpec sleeping() {
    ChildSpec spec;
    spec.words = {"/bin/sleep", "100"};
    spec.own_session = true;
    return spec;
  }

  test::TemporaryFolder folder_;
};

TEST_F(RankStacksTest, AreTheLinesOfADebugger) {
  debugger("gdb", "echo 'Reading symbols'\necho '#0  0x1 in read ()'\necho '#1  0x2 in main ()'\n");
  EXPECT_EQ(stacks(),
            "rank 3: stacks of PROCESS (sleep), by gdb:\n#0  0x1 in read ()\n#1  0x2 in main ()\n");
  EXPECT_FALSE(rank_.ended()) << "it goes on";
}

TEST_F(RankStacksTest, SayWhyThereAreNoneInTheDebuggersLastWords) {
  debugger(
      "gdb",
      "echo 'warning: x' >&2\necho 'ptrace: Operation not permitted. ' >&2\necho >&2\nexit 1\n");
  EXPECT_EQ(stacks(),
            "rank 3: no stacks of PROCESS (sleep): gdb: ptrace: Operation not permitted.\n");
  EXPECT_TRUE(has_ended()) << "it gets SIGQUIT";
}

TEST_F(RankStacksTest, TryTheNextDebugger) {
  debugger("gdb", "echo no >&2; exit 1\n");
  debugger("eu-stack", "echo '#0  0x1 read'\n");
  EXPECT_EQ(stacks(), "rank 3: stacks of PROCESS (sleep), by eu-stack:\n#0  0x1 read\n");
}

TEST_F(RankStacksTest, WithoutADebuggerTheProcessIsTold) {
  EXPECT_EQ(stacks(), "rank 3: no stacks of PROCESS (sleep): no gdb or eu-stack found\n");
  EXPECT_TRUE(has_ended());
}

TEST(ProcessesOfRank, AreNoShellThatWaitsAndNoneThatHasEnded) {
  for (const char* script : {"sleep 100 & wait", "(exit 0) & exec sleep 100"}) {
    ChildSpec spec;
    spec.words = {"/bin/sh", "-c", script};
    const RankChild rank(spec);
    std::vector<std::string> names;
    const auto until = Clock::now() + 10s;  // the shell needs a moment
    while (names != std::vector<std::string>{"sleep"} && Clock::now() < until) {
      usleep(10000);
      names.clear();
      for (const pid_t process : processes_of_rank(rank.pid()))
        names.push_back(name_of_process(process));
    }
    EXPECT_EQ(names, std::vector<std::string>{"sleep"}) << script;
  }
}

}  // namespace
}  // namespace hpcboot::run
