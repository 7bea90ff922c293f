#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "store_here.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using namespace test;

// An attacker that listens at a port of rank 0's host and forwards everything to the real store.
TEST(Store, a_proof_cannot_be_passed_on) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  Place stranger = a_place();
  const Socket listener = listen_at(stranger);
  std::thread relay([&] {
    std::this_thread::sleep_for(50ms);
    const Socket rank(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string reason;
    const Socket store = connect_to(server->place(), Clock::now() + 1s, reason);
    char bytes[256];
    for (const auto& [from, to, size] : {std::tuple{rank.fd(), store.fd(), kHelloSize},
                                         {store.fd(), rank.fd(), kChallengeSize},
                                         {rank.fd(), store.fd(), kProofSize}}) {
      std::this_thread::sleep_for(50ms);
      const auto count = recv(from, bytes, size, 0);
      ASSERT_EQ(count, static_cast<ssize_t>(size));
      ASSERT_EQ(send(to, bytes, size, 0), count);
    }
    // The store rejects this without a reply.
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(recv(store.fd(), bytes, 1, MSG_DONTWAIT), 0);
  });
  Member member{world, 1};
  const Link::Attempt attempt = Link::open(stranger, member, Clock::now() + 5s);
  relay.join();
  EXPECT_EQ(attempt.outcome, Link::Outcome::not_ours);
}

// A false rank 0: it knows the protocol but not the secret.
class Impostor {
 public:
  // @param answer computes the verdict's 32 bytes from the client's proof
  explicit Impostor(std::function<Proof(const Proof&)> answer, std::uint8_t version = kVersion)
      : listener_(listen_at(place_)), thread_([this, version, answer = std::move(answer)] {
          std::this_thread::sleep_for(20ms);
          const Socket peer(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
          char greeting[kHelloSize];
          if (recv(peer.fd(), greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting) return;
          FrameWriter challenge;
          challenge.u8(version);
          challenge.raw(Nonce{});
          challenge.u8(static_cast<std::uint8_t>(SecretKind::told));
          challenge.u16(0);
          const std::string text = std::string(kMagic) + challenge.bytes();
          (void)!send(peer.fd(), text.data(), text.size(), MSG_NOSIGNAL);
          Proof proof{};
          if (recv(peer.fd(), proof.data(), proof.size(), MSG_WAITALL) != ssize_t{32}) return;
          FrameWriter verdict;
          verdict.u8(static_cast<std::uint8_t>(Verdict::welcome));
          verdict.raw(answer(proof));
          (void)!send(peer.fd(), verdict.bytes().data(), verdict.bytes().size(), MSG_NOSIGNAL);
        }) {}
  ~Impostor() { thread_.join(); }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;
  const Place& place() const { return place_; }

 private:
  Place place_ = a_place();
  Socket listener_;
  std::thread thread_;
};

TEST(Store, a_rank_believes_no_rank_0_without_the_secret) {
  const std::vector<std::function<Proof(const Proof&)>> answers = {
      [](const Proof&) { return Proof{}; }, [](const Proof& given) { return given; },  // reflected
  };
  for (const auto& answer : answers) {
    const Impostor impostor(answer);
    Member member{a_world(2), 1};
    const Link::Attempt attempt = Link::open(impostor.place(), member, Clock::now() + 5s);
    EXPECT_EQ(attempt.outcome, Link::Outcome::not_ours);
    EXPECT_NE(attempt.reason.find("another secret"), std::string::npos) << attempt.reason;
  }
}

TEST(Store, a_stranger_of_another_version_keeps_no_rank_from_rank_0) {
  const auto echo = [](const Proof& given) { return given; };
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  {
    const Impostor impostor(echo, kVersion + 1);
    EXPECT_NE(Client::connect({impostor.place(), server->place()}, {world, 1}, Clock::now() + 10s),
              nullptr);
  }
  const Impostor alone(echo, kVersion + 1);
  Member member{world, 1};
  const Link::Attempt attempt = Link::open(alone.place(), member, Clock::now() + 5s);
  EXPECT_EQ(attempt.outcome, Link::Outcome::not_ours);
  EXPECT_NE(attempt.reason.find("version " + std::to_string(kVersion + 1)), std::string::npos)
      << attempt.reason;
}

// A rank opens a second connection while unauthenticated peers connect faster.
TEST(Store, a_flood_of_strangers_loses_no_rank) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  const auto client = join(*server, world, 1);
  std::atomic<bool> is_over{false};
  std::thread flood([&] {
    std::vector<Socket> strangers;
    std::string reason;
    while (!is_over) {
      strangers.push_back(connect_to(server->place(), Clock::now() + 1s, reason));
      if (strangers.size() > 600) strangers.erase(strangers.begin(), strangers.begin() + 300);
    }
  });
  for (int i = 0; i < 20; ++i) {
    std::thread waiting(
        [&] { EXPECT_EQ(get(*client, {"k" + std::to_string(i)}, 20s).size(), 1U); });
    std::this_thread::sleep_for(2ms);
    client->set("k" + std::to_string(i), "");
    waiting.join();
  }
  is_over = true;
  flood.join();
}

// Whatever an unauthenticated peer sends at any point, ranks are still served and it is
// disconnected within seconds.
class Stranger : public testing::TestWithParam<std::string> {};

std::string hello() {
  FrameWriter text;
  text.u8(kVersion);
  text.u32(1);
  text.raw(Token{});
  text.raw(Nonce{});
  return std::string(kMagic) + text.bytes();
}

INSTANTIATE_TEST_SUITE_P(Bytes, Stranger,
                         testing::Values("", "\x02", "GET / HTTP/1.1\r\n\r\n",
                                         std::string(1000, '\0'), hello(), hello().substr(0, 30),
                                         hello() + std::string(31, 'x'),
                                         hello() + std::string(32, 'x'),
                                         hello() + std::string(100000, 'x')));

TEST_P(Stranger, costs_two_seconds_and_delays_nobody) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  std::string reason;
  const Socket stranger = connect_to(server->place(), Clock::now() + 1s, reason);
  const std::string bytes = GetParam();
  (void)!send(stranger.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  const auto start = Clock::now();
  const auto client = join(*server, world, 1);
  EXPECT_EQ(client->add("n", 1), 1);
  EXPECT_LT(Clock::now() - start, 1s);
  pollfd entry{stranger.fd(), POLLIN | POLLRDHUP, 0};
  while (poll(&entry, 1, 5000) == 1 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {
    char taken[256];
    (void)!recv(stranger.fd(), taken, sizeof taken, MSG_DONTWAIT);
  }
  EXPECT_NE(entry.revents & (POLLRDHUP | POLLHUP | POLLERR), 0);
  EXPECT_LT(Clock::now() - start, 4s);
}

TEST(Store, a_thousand_strangers_keep_no_rank_away) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  std::vector<Socket> strangers;
  std::string reason;
  for (int i = 0; i < 1000; ++i)
    strangers.push_back(connect_to(server->place(), Clock::now() + 1s, reason));
  EXPECT_EQ(join(*server, world, 1)->add("n", 1), 1);
}

// A relay that forwards the proofs unchanged and changes one byte afterwards.
TEST(Store, what_a_relay_changes_is_not_believed) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  Place place = a_place();
  place.port = server->place().port;
  place.address = "127.0.0.2";  // the same port, as the proofs require
  const Socket listener = listen_at(place);
  ASSERT_TRUE(listener.is_open());
  std::thread relay([&] {
    pollfd waiting{listener.fd(), POLLIN, 0};
    poll(&waiting, 1, 5000);
    const Socket rank(accept(listener.fd(), nullptr, nullptr));
    std::string reason;
    const Socket store = connect_to(server->place(), Clock::now() + 5s, reason);
    std::array<pollfd, 2> ends{{{rank.fd(), POLLIN, 0}, {store.fd(), POLLIN, 0}}};
    std::size_t from_rank = 0;
    while (poll(ends.data(), ends.size(), 5000) > 0) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (ends[i].revents == 0) continue;
        std::array<char, 4096> bytes{};
        const ssize_t count = recv(ends[i].fd, bytes.data(), bytes.size(), 0);
        if (count <= 0) return;
        if (i == 0 && from_rank == kHelloSize + kProofSize)
          bytes[12] ^= 1;  // the key's length or text
        if (i == 0) from_rank += static_cast<std::size_t>(count);
        send(ends[1 - i].fd, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
      }
    }
  });
  const auto client = Client::connect({place}, {world, 1}, Clock::now() + 5s);
  EXPECT_EQ(code_of([&] { client->set("key", "value"); }), ErrorCode::peer_lost);
  relay.join();
  EXPECT_EQ(join(*server, world, 0)->count(), 0);
}

}  // namespace
}  // namespace hpcboot::rendezvous
