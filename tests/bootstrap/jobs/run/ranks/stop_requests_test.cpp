#include "jobs/run/ranks/stop_requests.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;

TEST(StopRequests, TheSameSignalAtOnceIsOneRequest) {
  StopRequests requests;
  EXPECT_FALSE(requests.is_asked());
  const auto now = Clock::now();
  EXPECT_EQ(requests.take(SIGTERM, now), StopMeaning::first);
  EXPECT_TRUE(requests.is_asked());
  EXPECT_EQ(requests.take(SIGTERM, now + 5ms), StopMeaning::repeated);
  EXPECT_EQ(requests.take(SIGTERM, now + 500ms), StopMeaning::second);
}

TEST(StopRequests, AnotherSignalIsASecondOne) {
  StopRequests requests;
  const auto now = Clock::now();
  requests.take(SIGINT, now);
  EXPECT_EQ(requests.take(SIGTERM, now + 1ms), StopMeaning::second);
}

TEST(StopRequests, NobodyInsistsBySighup) {
  StopRequests requests;
  const auto now = Clock::now();
  EXPECT_EQ(requests.take(SIGHUP, now), StopMeaning::first);
  EXPECT_EQ(requests.take(SIGHUP, now + 2s), StopMeaning::repeated);
  EXPECT_EQ(requests.take(SIGTERM, now + 3s), StopMeaning::second);
}

TEST(StopRequests, SighupAndSigtermAtOnceAreOneRequest) {
  StopRequests requests;
  const auto now = Clock::now();
  EXPECT_EQ(requests.take(SIGHUP, now), StopMeaning::first);
  EXPECT_EQ(requests.take(SIGTERM, now + 1ms), StopMeaning::repeated);
  EXPECT_EQ(requests.take(SIGHUP, now + 2ms), StopMeaning::repeated);
  EXPECT_EQ(requests.take(SIGTERM, now + 3ms), StopMeaning::repeated);
  EXPECT_EQ(requests.take(SIGTERM, now + 1s), StopMeaning::second);
}

}  // namespace
}  // namespace hpcboot::run
