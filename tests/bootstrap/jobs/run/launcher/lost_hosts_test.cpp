#include "jobs/run/launcher/lost_hosts.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "rendezvous/store/place.hpp"

namespace hpcboot::run {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

TEST(LostHosts, AreAmongThoseNoRankOfWhichHasToldItsEnd) {
  EXPECT_EQ(silent_hosts({{"n1", 2, 2}, {"n2", 2, 0}, {"n3", 2, 1}, {"n4", 0, 0}}), Names{"n2"});
  EXPECT_EQ(silent_hosts({}), Names());
}

// This host, and a name that does not resolve, which proves nothing about the host.
TEST(LostHosts, AreNotThoseThatAnswer) {
  EXPECT_EQ(dead_hosts({"127.0.0.1", "localhost"}, 3s), Names());
  EXPECT_EQ(dead_hosts({"no-such-host.invalid"}, 3s), Names());
  EXPECT_EQ(dead_hosts({}, 3s), Names());
}

// Where the queue of connections is full, another one gets no answer, as from a dead host.
TEST(LostHosts, AreThoseThatDoNotAnswer) {
  rendezvous::Place place{"127.77.0.1", 22};
  const rendezvous::Socket busy = rendezvous::listen_at(place);
  if (!busy.is_open()) GTEST_SKIP() << "this user cannot listen at " << place.text();
  ASSERT_EQ(listen(busy.fd(), 0), 0);
  std::string reason;
  const rendezvous::Socket first =
      rendezvous::connect_to(place, rendezvous::Clock::now() + 5s, reason);
  ASSERT_TRUE(first.is_open()) << reason;
  pollfd queue{busy.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&queue, 1, 5000), 1);
  EXPECT_EQ(dead_hosts({"127.0.0.1", place.address}, 2s), Names{place.address});
  EXPECT_EQ(dead_hosts(Names(100, place.address), 300ms).size(), 64U) << "each takes a thread";
}

}  // namespace
}  // namespace hpcboot::run
