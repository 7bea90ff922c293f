#include "core/start_thread.hpp"

#include <gtest/gtest.h>

#include "core/bounded_call.hpp"
#include "hpcboot/error.hpp"
#include "support/without_threads.hpp"

namespace hpcboot {
namespace {

using test::holds_without_threads;

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.found();
  }
  return "";
}

bool blocks(int signal) {
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  return sigismember(&own, signal) == 1;
}

const std::string kRefusal =
    "exchange_failed: cannot start a thread: Resource temporarily unavailable (ulimit -u: 0)";

TEST(StartThread, WithoutRoomForOneTheErrorNamesTheLimit) {
  const auto holds = holds_without_threads([] {
    return refusal_of([] { start_thread([] {}).join(); }) == kRefusal &&
           refusal_of([] { bounded_call([] {}, std::chrono::seconds(20)); }) == kRefusal;
  });
  if (!holds) GTEST_SKIP() << "this process cannot be limited";
  EXPECT_TRUE(*holds);
}

TEST(StartThread, ThatBlocksSignalsLeavesThoseOfTheCallerAsTheyWere) {
  bool is_blocked = false;
  thread_without_signals([&] { is_blocked = blocks(SIGTERM); }).join();
  EXPECT_TRUE(is_blocked);
  EXPECT_FALSE(blocks(SIGTERM));
  const auto holds = holds_without_threads([] {
    return refusal_of([] { thread_without_signals([] {}).join(); }) == kRefusal &&
           !blocks(SIGTERM) && !blocks(SIGINT);
  });
  if (!holds) GTEST_SKIP() << "this process cannot be limited";
  EXPECT_TRUE(*holds);
}

}  // namespace
}  // namespace hpcboot
