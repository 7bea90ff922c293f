#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cli/tcp.hpp"
#include "support/expect_error.hpp"

namespace hpcboot::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool answers(int port, milliseconds within) {
  std::string reason;
  return connect_to("127.0.0.1", port, steady_clock::now() + within, reason).has_value();
}

// A rank that started sooner must not reach the socket that only holds rank 0's port.
TEST(Listener, HasThePortAndRefusesEverybodyUntilItListens) {
  Listener listener(0, PortUse::exclusive);
  EXPECT_FALSE(answers(listener.port(), milliseconds(200)));
  listener.listen();
  EXPECT_TRUE(answers(listener.port(), milliseconds(20000)));
}

TEST(Listener, KeepsThePortFromOthersWhileItOnlyHoldsIt) {
  const Listener listener(0, PortUse::exclusive);
  for (const PortUse use : {PortUse::exclusive, PortUse::again}) {
    test::expect_error(
        ErrorCode::exchange_failed, [&] { Listener(listener.port(), use); }, "bind",
        std::to_string(listener.port()), "HPCBOOT_MASTER_PORT");
  }
}

}  // namespace
}  // namespace hpcboot::tool
