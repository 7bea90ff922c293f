#include "jobs/run/job/walltime_clock.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <csignal>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;

WallTime in(std::chrono::milliseconds time) {
  return WallTime::clock::now() + time;
}

bool is_due_within(const WalltimeClock& clock, std::chrono::milliseconds time) {
  pollfd entry{clock.fd(), POLLIN, 0};
  return poll(&entry, 1, static_cast<int>(time.count())) == 1;
}

TEST(WalltimeClock, WarnsInTimeBeforeTheEnd) {
  const WallTime end = in(10s);
  const WalltimeClock clock(end, 9s, [end] { return end; });
  EXPECT_FALSE(clock.is_due());
  ASSERT_TRUE(is_due_within(clock, 8s));
  EXPECT_TRUE(clock.is_due());
  EXPECT_LE(clock.left(), 9s);
  EXPECT_GE(clock.left(), 2s);
}

TEST(WalltimeClock, WaitsOnIfTheWalltimeHasBecomeLonger) {
  std::atomic<int> asked{0};
  const WallTime later = in(1h);
  const WalltimeClock clock(in(5s), 5s, [&] {
    ++asked;
    return later;
  });
  EXPECT_FALSE(is_due_within(clock, 300ms));
  EXPECT_EQ(asked, 1);
  EXPECT_GT(clock.left(), 59min);
}

TEST(WalltimeClock, NeverWarnsOnceThereIsNoLimit) {
  const WalltimeClock clock(in(5s), 5s, [] { return std::nullopt; });
  EXPECT_FALSE(is_due_within(clock, 300ms));
}

TEST(WalltimeClock, BelievesWhatItKnewIfNobodyAnswers) {
  const WalltimeClock clock(in(5s), 5s, []() -> std::optional<WallTime> {
    throw Error(ErrorCode::backend_unavailable, "no answer", "one", "wait");
  });
  EXPECT_TRUE(is_due_within(clock, 10s));
}

TEST(WalltimeClock, AsksForAnUnknownEndUntilItIsTold) {
  std::atomic<int> asked{0};
  const WallTime end = in(1h);
  const WalltimeClock clock(std::nullopt, 1h, [&] {
    if (++asked < 3) throw Error(ErrorCode::backend_unavailable, "no answer", "one", "wait");
    return end;
  });
  EXPECT_FALSE(clock.is_due());
  ASSERT_TRUE(is_due_within(clock, 60s));
  EXPECT_EQ(asked, 4);  // also before the warning
}

TEST(WalltimeClock, NeverWarnsIfItIsToldThatThereIsNoLimit) {
  std::atomic<int> asked{0};
  const WalltimeClock clock(std::nullopt, 1h, [&]() -> std::optional<WallTime> {
    ++asked;
    return std::nullopt;
  });
  EXPECT_FALSE(is_due_within(clock, 1500ms));
  EXPECT_LE(asked, 1);
}

TEST(WalltimeClock, EndsAtOnceWhileItWaits) {
  const auto start = std::chrono::steady_clock::now();
  {
    const WalltimeClock clock(in(1h), 1s, [] { return std::nullopt; });
    const WalltimeClock unknowing(std::nullopt, 1s, [] { return std::nullopt; });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

// Signals belong to the thread that reads them.
TEST(WalltimeClock, GetsNoSignals) {
  const WalltimeClock clock(in(1h), 1s, [] { return std::nullopt; });
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &usr1, &before);
  kill(getpid(), SIGUSR1);
  const timespec patience{10, 0};
  EXPECT_EQ(sigtimedwait(&usr1, nullptr, &patience), SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace hpcboot::run
