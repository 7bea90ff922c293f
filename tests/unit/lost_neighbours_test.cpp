#include "loop/lost_neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace hpcboot::train {
namespace {

using ::testing::HasSubstr;

// A process that waits for the end, as a rank does for its peers.
pid_t start_neighbour() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

record::RankRecord rank_of(int rank, const std::string& host, pid_t pid) {
  record::RankRecord record;
  record.placement.rank = rank;
  record.host = host;
  record.pid = pid;
  return record;
}

TEST(LostNeighbours, TellsWhichRankLeftAndBySignalWhileThatIsSeen) {
  const pid_t killed = start_neighbour();
  const pid_t alive = start_neighbour();
  const auto seen = neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", killed),
                                     rank_of(2, "n1", alive), rank_of(3, "n2", alive)},
                                    0);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(lost_neighbours(seen, 4), "");

  ASSERT_EQ(kill(killed, SIGKILL), 0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(killed), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(lost_neighbours(seen, 4), "  rank 1 of 4 on n1 (pid " + std::to_string(killed) +
                                            ") has left, ended by signal 9\n");
  ASSERT_EQ(waitpid(killed, nullptr, 0), killed);
  EXPECT_THAT(lost_neighbours(seen, 4), HasSubstr("rank 1 of 4 on n1"));
  EXPECT_THAT(lost_neighbours(seen, 4), ::testing::Not(HasSubstr("rank 2")));

  kill(alive, SIGKILL);
  waitpid(alive, nullptr, 0);
}

TEST(LostNeighbours, TellsWhichRankIsStopped) {
  const pid_t stopped = start_neighbour();
  const auto seen = neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", stopped)}, 0);
  ASSERT_EQ(kill(stopped, SIGSTOP), 0);
  siginfo_t state;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(stopped), &state, WSTOPPED | WNOWAIT), 0);
  EXPECT_THAT(lost_neighbours(seen, 2), "  rank 1 of 2 on n1 (pid " + std::to_string(stopped) +
                                            ") is stopped, by a signal or a debugger\n");
  kill(stopped, SIGKILL);
  waitpid(stopped, nullptr, 0);
}

TEST(LostNeighbours, ProcessesThatWereNeverSeenHaveNotLeft) {
  const pid_t gone = start_neighbour();
  kill(gone, SIGKILL);
  waitpid(gone, nullptr, 0);
  EXPECT_TRUE(neighbours_seen({rank_of(0, "n1", getpid()), rank_of(1, "n1", gone)}, 0).empty());
  EXPECT_TRUE(neighbours_seen({}, 0).empty());
}

}  // namespace
}  // namespace hpcboot::train
