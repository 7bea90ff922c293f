#include "loop/lost_neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "support/waiting_process.hpp"

namespace hpcboot::train {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using Neighbour = test::WaitingProcess;

record::RankRecord rank_of(int rank, const std::string& host, pid_t pid) {
  record::RankRecord record;
  record.placement.rank = rank;
  record.host = host;
  record.pid = pid;
  return record;
}

TEST(LostNeighbours, TellsWhichRankLeftAndBySignalWhileThatIsSeen) {
  Neighbour killed;
  const Neighbour alive;
  const auto seen = neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", killed.pid()),
                                     rank_of(2, "n1", alive.pid()), rank_of(3, "n2", alive.pid())},
                                    0);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(lost_neighbours(seen, 4), "");

  ASSERT_EQ(kill(killed.pid(), SIGKILL), 0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(killed.pid()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(lost_neighbours(seen, 4), "  rank 1 of 4 on n1 (pid " + std::to_string(killed.pid()) +
                                            ") has left, killed by signal 9\n");
  killed.end();
  EXPECT_THAT(lost_neighbours(seen, 4), HasSubstr("rank 1 of 4 on n1"));
  EXPECT_THAT(lost_neighbours(seen, 4), ::testing::Not(HasSubstr("rank 2")));
}

TEST(LostNeighbours, TellsWhoLeftWithWhichCodeAndWhoLeftBecauseOfOthers) {
  for (const auto& [code, how] :
       {std::pair(0, ") has left\n"s),
        {45, ") has left, with exit code 45\n"s},
        {44, ") has left, with exit code 44: it had lost a rank itself\n"s}}) {
    std::array<int, 2> end{};
    ASSERT_EQ(pipe(end.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(end[1]);  // so that read() returns if the test ends
      char until_told = 0;
      _exit(read(end[0], &until_told, 1) == 1 ? code : 99);
    }
    const auto seen = neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", child)}, 0);
    ASSERT_EQ(write(end[1], "x", 1), 1);
    siginfo_t ended;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(lost_neighbours(seen, 4), "  rank 1 of 4 on n1 (pid " + std::to_string(child) + how);
    waitpid(child, nullptr, 0);
    close(end[0]);
    close(end[1]);
  }
}

TEST(LostNeighbours, TellsWhichRankIsStopped) {
  const Neighbour stopped;
  const auto seen =
      neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", stopped.pid())}, 0);
  ASSERT_EQ(kill(stopped.pid(), SIGSTOP), 0);
  siginfo_t state;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(stopped.pid()), &state, WSTOPPED | WNOWAIT), 0);
  EXPECT_THAT(lost_neighbours(seen, 2), "  rank 1 of 2 on n1 (pid " +
                                            std::to_string(stopped.pid()) +
                                            ") is stopped, by a signal or a debugger\n");
}

TEST(LostNeighbours, ProcessesThatWereNeverSeenHaveNotLeft) {
  Neighbour gone;
  gone.end();
  EXPECT_TRUE(
      neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", gone.pid())}, 0).empty());
  EXPECT_TRUE(neighbours_seen({}, 0).empty());
}

}  // namespace
}  // namespace hpcboot::train
