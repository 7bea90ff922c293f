#include "jobs/run/ranks/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;

bool is_blocked(int number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, number) == 1;
}

// Sets this process's action for a signal during the test.
class Disposition {
 public:
  Disposition(int number, void (*handler)(int))
      : number_(number), before_(std::signal(number, handler)) {}
  ~Disposition() { std::signal(number_, before_); }
  Disposition(const Disposition&) = delete;
  Disposition& operator=(const Disposition&) = delete;

 private:
  int number_;
  void (*before_)(int);
};

TEST(BlockedSignals, AreReadWhileItLives) {
  {
    const BlockedSignals signals({SIGUSR1, SIGUSR2});
    EXPECT_TRUE(is_blocked(SIGUSR1));
    EXPECT_TRUE(is_blocked(SIGPIPE));
    EXPECT_TRUE(is_blocked(SIGXFSZ));
    EXPECT_FALSE(is_blocked(SIGTERM));
    EXPECT_EQ(signals.next(), std::nullopt);
    raise(SIGUSR2);
    EXPECT_EQ(signals.next(), SIGUSR2);
    EXPECT_EQ(signals.next(), std::nullopt);
    // A signal that arrives too late ends no process.
    raise(SIGUSR1);
    raise(SIGPIPE);
    raise(SIGXFSZ);
  }
  EXPECT_FALSE(is_blocked(SIGUSR1));
  EXPECT_FALSE(is_blocked(SIGPIPE));
  EXPECT_FALSE(is_blocked(SIGXFSZ));
}

TEST(BlockedSignals, ThatWereIgnoredStaySo) {
  const Disposition ignored(SIGHUP, SIG_IGN);
  const BlockedSignals signals({SIGHUP, SIGUSR1});
  EXPECT_FALSE(is_blocked(SIGHUP));
  raise(SIGHUP);
  EXPECT_EQ(signals.next(), std::nullopt);
}

TEST(BlockedSignals, LeaveNoDescriptor) {
  int fd = -1;
  {
    const BlockedSignals signals({SIGUSR1});
    fd = signals.fd();
    EXPECT_NE(fcntl(fd, F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

// A daemon's child may have none.
TEST(BlockedSignals, NeedNoStandardInput) {
  const int kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  EXPECT_NO_THROW(EXPECT_EQ(BlockedSignals({SIGUSR1}).fd(), STDIN_FILENO));
  dup2(kept, STDIN_FILENO);
  close(kept);
}

// If SIGCHLD were ignored, as inherited from the parent, the kernel would reap the ranks, and how
// they ended would be lost.
TEST(BlockedSignals, TheEndsOfChildrenAreHeardOfInAnyCase) {
  const Disposition ignored(SIGCHLD, SIG_IGN);
  {
    const BlockedSignals signals({SIGCHLD});
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child) << std::strerror(errno);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(signals.next(), SIGCHLD);
  }
  struct sigaction now {};
  sigaction(SIGCHLD, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

TEST(PollSet, TellsWhoIsReady) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto ready = [&](Clock::time_point until) {
    PollSet set;
    set.add(-1, POLLIN);
    set.add(ends[0], POLLIN);
    set.wait(until);
    return std::make_pair(set.is_ready(-1), set.is_ready(ends[0]));
  };
  EXPECT_EQ(ready(Clock::now() - 1s), std::make_pair(false, false));
  const auto begin = Clock::now();
  EXPECT_EQ(ready(begin + 30ms), std::make_pair(false, false));
  EXPECT_GE(Clock::now(), begin + 30ms);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(ready(Clock::now() + 20s), std::make_pair(false, true));
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(ready(Clock::now() + 20s), std::make_pair(false, true)) << "no more to come";
  close(ends[0]);
}

}  // namespace
}  // namespace hpcboot::run
