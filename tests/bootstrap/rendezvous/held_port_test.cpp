#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "rendezvous/store/held_port.hpp"
#include "rendezvous/store/place.hpp"
#include "support/expect_error.hpp"

namespace hpcboot::rendezvous {
namespace {

// A rank that starts earlier must not connect to the socket that only reserves rank 0's port.
TEST(HeldPort, RefusesEverybody) {
  const HeldPort held(0);
  std::string reason;
  const auto end = Clock::now() + std::chrono::seconds(5);
  EXPECT_FALSE(connect_to({"127.0.0.1", held.number()}, end, reason).is_open());
  EXPECT_EQ(reason, "Connection refused");
}

TEST(HeldPort, IsKeptFromOthers) {
  const HeldPort held(0);
  test::expect_error(
      ErrorCode::exchange_failed, [&] { HeldPort again(held.number()); }, "bind",
      std::to_string(held.number()), "HPCBOOT_MASTER_PORT");
  Place place{"127.0.0.1", held.number()};
  EXPECT_FALSE(listen_at(place).is_open());
}

// Names of local places differ only in their last characters.
TEST(LocalPlace, is_another_by_its_last_letter) {
  const std::string name = "@hpcboot-place-" + std::to_string(getpid()) + "-";
  Place one{name + "1", 0};
  Place other{name + "2", 0};
  const Socket first = listen_at(one);
  EXPECT_TRUE(first.is_open());
  EXPECT_TRUE(listen_at(other).is_open());
  EXPECT_FALSE(listen_at(one).is_open()) << "it is taken";
}

}  // namespace
}  // namespace hpcboot::rendezvous
