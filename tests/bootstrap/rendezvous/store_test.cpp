#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "hpcboot/error.hpp"
#include "rendezvous/store/client.hpp"
#include "rendezvous/store/server.hpp"
#include "rendezvous/store/table.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;

World a_world(std::uint32_t size, std::string identity = "job 7") {
  return {std::move(identity), size, Secret("the secret of this launch, 32 by")};
}

Place a_place() {
  return {"127.0.0.1", 0};
}

Place a_local_place() {
  static std::atomic<int> count{0};
  return {"@hpcboot-test-" + std::to_string(getpid()) + "-" + std::to_string(++count), 0};
}

std::unique_ptr<Client> join(const Server& server, const World& world, std::uint32_t rank,
                             std::chrono::milliseconds limit = 5s) {
  return Client::connect({server.place()}, {world, rank}, Clock::now() + limit);
}

std::vector<std::string> get(Client& client, const std::vector<std::string>& keys,
                             std::chrono::milliseconds limit = 5s) {
  std::vector<std::string> values;
  std::vector<std::string> missing;
  EXPECT_TRUE(client.get(keys, Clock::now() + limit, values, missing));
  return values;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::malformed_value;
}

class StoreAt : public testing::TestWithParam<bool> {
 protected:
  Place place_ = GetParam() ? a_local_place() : a_place();
  World world_ = a_world(3);
  std::unique_ptr<Server> server_ = Server::start(place_, world_);
  std::unique_ptr<Client> client_ = join(*server_, world_, 1);
};

INSTANTIATE_TEST_SUITE_P(Places, StoreAt, testing::Bool(),
                         [](const auto& one) { return one.param ? "local" : "tcp"; });

TEST_P(StoreAt, keeps_what_ranks_tell) {
  client_->set("a", std::string("\0binary\n", 8));
  EXPECT_EQ(get(*join(*server_, world_, 0), {"a"}), std::vector{std::string("\0binary\n", 8)});
  client_->append("a", "+");
  client_->append("new", "first");
  client_->set_many({"b", "c"}, {"2", ""});
  EXPECT_EQ(get(*client_, {"c", "b", "new"}), (std::vector<std::string>{"", "2", "first"}));
  EXPECT_EQ(client_->add("n", 5), 5);
  EXPECT_EQ(client_->add("n", -7), -2);
  EXPECT_EQ(get(*client_, {"n"}), std::vector<std::string>{"-2"});
  EXPECT_EQ(client_->count(), 5);
  EXPECT_TRUE(client_->check({"a", "b"}));
  EXPECT_FALSE(client_->check({"a", "x"}));
  EXPECT_TRUE(client_->erase("a"));
  EXPECT_FALSE(client_->erase("a"));
}

TEST_P(StoreAt, compares_before_it_sets) {
  EXPECT_EQ(client_->compare_set("k", "expected", "x"), "expected");
  EXPECT_EQ(client_->compare_set("k", "", "one"), "one");
  EXPECT_EQ(client_->compare_set("k", "other", "two"), "one");
  EXPECT_EQ(client_->compare_set("k", "one", "two"), "two");
}

TEST_P(StoreAt, waits_for_others_and_names_what_is_missing) {
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    join(*server_, world_, 2)->set("late", "here");
  });
  EXPECT_EQ(get(*client_, {"late"}), std::vector<std::string>{"here"});
  later.join();
  std::vector<std::string> missing;
  EXPECT_FALSE(client_->wait({"late", "never", "nor this"}, Clock::now() + 30ms, missing));
  EXPECT_EQ(missing, (std::vector<std::string>{"never", "nor this"}));
  client_->set("never", "");
  client_->set("nor this", "");
  EXPECT_TRUE(client_->wait({"late", "never", "nor this"}, Clock::now() + 30ms, missing));
}

TEST_P(StoreAt, one_thread_that_waits_does_not_hold_up_another) {
  std::atomic<bool> came{false};
  std::thread waiting([&] {
    EXPECT_EQ(get(*client_, {"k"}), std::vector<std::string>{"v"});
    came = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(client_->add("n", 1), 1);
  EXPECT_FALSE(came);
  client_->set("k", "v");
  waiting.join();
}

TEST_P(StoreAt, carries_megabytes) {
  const std::string large(std::size_t{20} << 20U, 'x');
  client_->set("large", large);
  EXPECT_EQ(get(*client_, {"large"}).front(), large);
  EXPECT_EQ(code_of([&] { client_->set("too large", std::string(kLargestFrame, 'x')); }),
            ErrorCode::exchange_failed);
}

// No frame could carry it.
TEST_P(StoreAt, refuses_to_show_a_value_that_has_grown_too_large) {
  const std::string half(kLargestFrame / 2, 'x');
  for (int i = 0; i < 2; ++i) client_->append("k", half);
  EXPECT_EQ(code_of([&] { get(*client_, {"k"}); }), ErrorCode::exchange_failed);
  EXPECT_EQ(code_of([&] { client_->compare_set("k", "y", "z"); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->compare_set("new", "y", "z"), "y");
}

TEST_P(StoreAt, refuses_a_sum_that_is_none) {
  client_->set("text", "7 ");
  EXPECT_EQ(code_of([&] { client_->add("text", 1); }), ErrorCode::exchange_failed);
  client_->set("most", "9223372036854775807");
  EXPECT_EQ(code_of([&] { client_->add("most", 1); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->add("n", 1), 1);  // the connection stays usable
}

TEST_P(StoreAt, believes_nobody_without_the_secret_the_identity_and_the_size) {
  World other = world_;
  other.secret = Secret("another secret");
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  other = world_;
  other.identity = "job 8";
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  other = world_;
  other.size = 4;
  EXPECT_EQ(code_of([&] { join(*server_, other, 0, 50ms); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] { join(*server_, world_, 3, 50ms); }), ErrorCode::deadline_exceeded);
}

// Even after it has gone: a later process belongs to another run, whose store is elsewhere.
TEST_P(StoreAt, a_rank_is_the_first_process_that_proved_it) {
  EXPECT_EQ(code_of([&] { join(*server_, world_, 1, 50ms); }), ErrorCode::deadline_exceeded);
  client_.reset();
  EXPECT_EQ(code_of([&] { join(*server_, world_, 1, 50ms); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(join(*server_, world_, 2)->add("n", 1), 1);
}

TEST_P(StoreAt, refuses_keys_that_are_too_long_and_keeps_the_connection) {
  const std::string longest(kLongestKey, 'k');
  client_->set(longest, "v");
  EXPECT_EQ(get(*client_, {longest}).front(), "v");
  EXPECT_EQ(code_of([&] { client_->set(longest + "k", "v"); }), ErrorCode::exchange_failed);
  EXPECT_EQ(code_of([&] { client_->set_many({"a", "b"}, {"1"}); }), ErrorCode::exchange_failed);
  EXPECT_EQ(client_->add("n", 1), 1);
}

TEST_P(StoreAt, a_client_says_that_the_store_is_gone) {
  std::thread end([&] {
    std::this_thread::sleep_for(30ms);
    server_.reset();
  });
  std::vector<std::string> missing;
  EXPECT_EQ(code_of([&] { client_->wait({"k"}, Clock::now() + 20s, missing); }),
            ErrorCode::peer_lost);
  end.join();
  EXPECT_EQ(code_of([&] { client_->set("k", ""); }), ErrorCode::peer_lost);
}

TEST(Store, a_client_goes_on_to_the_next_place) {
  const World world = a_world(2);
  const auto stranger = Server::start(a_place(), a_world(2, "another launch's"));
  const auto server = Server::start(a_place(), world);
  Place nobody = a_place();
  listen_at(nobody).close();
  const auto client =
      Client::connect({nobody, stranger->place(), server->place()}, {world, 1}, Clock::now() + 5s);
  EXPECT_EQ(client->place().port, server->place().port);
}

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

TEST(Store, is_bound_to_its_address_alone) {
  const auto server = Server::start({"127.0.0.2", 0}, a_world(2));
  std::string reason;
  EXPECT_FALSE(
      connect_to({"127.0.0.1", server->place().port}, Clock::now() + 1s, reason).is_open());
  EXPECT_TRUE(connect_to({"127.0.0.2", server->place().port}, Clock::now() + 1s, reason).is_open());
}

TEST(Store, a_place_that_is_taken_is_none) {
  const auto first = Server::start(a_place(), a_world(2));
  EXPECT_EQ(Server::start(first->place(), a_world(2)), nullptr);
  const auto local = Server::start(a_local_place(), a_world(2));
  EXPECT_EQ(Server::start(local->place(), a_world(2)), nullptr);
}

// Large answers are still on their way when rank 0 ends.
TEST(Store, what_was_answered_arrives_though_the_server_ends) {
  constexpr std::uint32_t kRanks = 4;
  const World world = a_world(kRanks);
  auto server = Server::start(a_place(), world);
  std::atomic<int> complete{0};
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    ranks.emplace_back([&, client = std::shared_ptr<Client>(join(*server, world, rank))] {
      complete += get(*client, {"k"}, 20s).at(0).size() == std::size_t{8} << 20U ? 1 : 0;
    });
  }
  std::this_thread::sleep_for(50ms);
  join(*server, world, 0)->set("k", std::string(std::size_t{8} << 20U, 'x'));
  server.reset();
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(complete, 3);
}

// A false rank 0: it knows the protocol but not the secret.
class Impostor {
 public:
  // @param answer computes the verdict's 32 bytes from the client's proof
  explicit Impostor(std::function<Proof(const Proof&)> answer)
      : listener_(listen_at(place_)), thread_([this, answer = std::move(answer)] {
          std::this_thread::sleep_for(20ms);
          const Socket peer(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
          char greeting[kHelloSize];
          if (recv(peer.fd(), greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting) return;
          FrameWriter challenge;
          challenge.u8(kVersion);
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

// Answers all requests of one rank in the same way, without seals.
void serve_alike(const Socket& listener, const World& world, Answer kind, const std::string& body) {
  pollfd waiting{listener.fd(), POLLIN, 0};
  poll(&waiting, 1, 5000);
  const Socket peer(accept(listener.fd(), nullptr, nullptr));
  const auto take = [&peer](std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t count = recv(peer.fd(), bytes.data(), size, MSG_WAITALL);
    return count == static_cast<ssize_t>(size) ? bytes : std::string();
  };
  Members members;
  Admission admission(world, 0, members);
  for (int i = 0; i < 2; ++i) {
    std::string out;
    admission.take(take(admission.expects()), out);
    (void)!send(peer.fd(), out.data(), out.size(), MSG_NOSIGNAL);
  }
  while (true) {
    std::uint32_t size = 0;
    std::uint32_t id = 0;
    if (!FrameReader(take(4)).u32(size)) return;
    FrameReader(take(size)).u32(id);
    FrameWriter answer(id, static_cast<std::uint8_t>(kind));
    answer.raw(body);
    const std::string frame = std::move(answer).frame();
    (void)!send(peer.fd(), frame.data(), frame.size(), MSG_NOSIGNAL);
  }
}

TEST(Store, an_answer_to_another_request_is_none) {
  const World world{"job 7", 2, {}};
  FrameWriter texts;
  texts.texts({"a key"});
  FrameWriter number;
  number.i64(7);
  number.u8(0);
  for (const auto& [kind, body] : {std::pair{Answer::done, texts.bytes()},
                                   {Answer::number, number.bytes()},
                                   {Answer::number, texts.bytes()},
                                   {static_cast<Answer>(77), texts.bytes()}}) {
    Place place = a_local_place();
    const Socket listener = listen_at(place);
    std::thread rank0([&, kind = kind, body = body] { serve_alike(listener, world, kind, body); });
    auto client = Client::connect({place}, {world, 1}, Clock::now() + 5s);
    std::vector<std::string> some;
    const auto now = Clock::now();
    for (const std::function<void()>& call : std::vector<std::function<void()>>{
             [&] { client->set("k", "v"); }, [&] { client->append("k", "v"); },
             [&] { client->set_many({"k"}, {"v"}); }, [&] { client->compare_set("k", "", "v"); },
             [&] { client->wait({"k"}, now, some); }, [&] { client->get({"k"}, now, some, some); },
             [&] { client->add("k", 1); }})
      EXPECT_EQ(code_of(call), ErrorCode::exchange_failed) << static_cast<int>(kind);
    client.reset();
    rank0.join();
  }
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

// A second launch with the same identity connects to its port as rank 0.
TEST(Store, rank_0_is_the_process_that_serves_from_the_start) {
  const World world = a_world(2);
  Member rank0{world, 0};
  const auto server = Server::start(a_place(), world, rank0.token);
  Member other{world, 0};
  EXPECT_EQ(Link::open(server->place(), other, Clock::now() + 5s).outcome,
            Link::Outcome::rank_is_taken);
  EXPECT_EQ(Link::open(server->place(), rank0, Clock::now() + 5s).outcome, Link::Outcome::ours);
}

// A small entry costs many times the size of its key and value.
TEST(Table, is_full_of_small_entries) {
  Table table(100'000);
  int taken = 0;
  while (table.set("key " + std::to_string(taken), "")) ++taken;
  EXPECT_GT(taken, 500);
  EXPECT_LT(taken, 1000);
  EXPECT_TRUE(table.set("key 0", ""));  // replaces the existing entry
  for (int i = 0; i < taken; ++i) EXPECT_TRUE(table.erase("key " + std::to_string(i)));
  EXPECT_TRUE(table.set("k", std::string(99'000, 'v')));
}

// Frames of one end, as checked by the other end.
TEST(FrameGuard, lets_nobody_change_repeat_or_reflect_a_frame) {
  Transcript transcript;
  transcript.identity = "job 7";
  const Secret secret("the secret of this launch, 32 by");
  FrameGuard client(Side::client, secret, transcript);
  FrameGuard server(Side::server, secret, transcript);
  std::string first;
  std::string second;
  client.seal("one", first);
  client.seal("two", second);
  EXPECT_EQ(first.size(), FrameGuard::kSealSize);
  EXPECT_FALSE(FrameGuard(Side::server, secret, transcript).accepts("two", second));  // left out
  EXPECT_FALSE(FrameGuard(Side::server, secret, transcript).accepts("onE", first));
  EXPECT_FALSE(FrameGuard(Side::client, secret, transcript).accepts("one", first));  // reflected
  EXPECT_FALSE(FrameGuard(Side::server, Secret("another"), transcript).accepts("one", first));
  Transcript other = transcript;
  other.server[0] = 1;
  EXPECT_FALSE(FrameGuard(Side::server, secret, other).accepts("one", first));
  EXPECT_TRUE(server.accepts("one", first));
  EXPECT_FALSE(server.accepts("one", first));  // repeated
  FrameGuard open;
  std::string nothing;
  open.seal("one", nothing);
  EXPECT_EQ(nothing, "");
  EXPECT_TRUE(open.accepts("one", ""));
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

TEST(Store, a_rank_that_sends_nonsense_harms_itself) {
  const World world = a_world(3);
  const auto server = Server::start(a_place(), world);
  const auto other = join(*server, world, 2);
  Member member{world, 1};
  for (const std::string& nonsense :
       {std::string("\xff\xff\xff\xff", 4), std::string("\0\0\0\1x", 5)}) {
    Link::Attempt attempt = Link::open(server->place(), member, Clock::now() + 1s);
    ASSERT_EQ(attempt.outcome, Link::Outcome::ours);
    std::string frame;
    attempt.link.send(nonsense, Clock::now() + 1s);
    EXPECT_FALSE(attempt.link.receive(frame, Clock::now() + 2s));
    EXPECT_EQ(other->add("n", 0), 0);
  }
}

TEST(Store, what_is_no_request_is_refused_and_the_connection_lives_on) {
  const World world = a_world(2);
  const auto server = Server::start(a_place(), world);
  Member member{world, 1};
  Link::Attempt attempt = Link::open(server->place(), member, Clock::now() + 1s);
  std::uint32_t sent = 0;
  for (const std::uint8_t kind : {std::uint8_t{99}, std::uint8_t{0}, std::uint8_t{1}}) {
    std::string answer;
    ASSERT_TRUE(attempt.link.send(FrameWriter(++sent, kind).frame(), Clock::now() + 1s));
    ASSERT_TRUE(attempt.link.receive(answer, Clock::now() + 2s));
    std::uint32_t id = 0;
    std::uint8_t verdict = 0;
    FrameReader reader(answer);
    ASSERT_TRUE(reader.u32(id) && reader.u8(verdict));
    EXPECT_EQ(id, sent);
    EXPECT_EQ(verdict, static_cast<std::uint8_t>(Answer::refused));
  }
}

TEST(Store, hundreds_of_ranks_meet) {
  constexpr int kRanks = 256;
  const World world = a_world(kRanks);
  const auto server = Server::start(a_place(), world);
  std::vector<std::thread> ranks;
  std::atomic<int> right{0};
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto client = join(*server, world, static_cast<std::uint32_t>(rank), 30s);
      client->set("r" + std::to_string(rank), std::to_string(rank));
      std::vector<std::string> keys;
      for (int other = 0; other < kRanks; ++other) keys.push_back("r" + std::to_string(other));
      const auto values = get(*client, keys, 30s);
      right += values.size() == kRanks && values.back() == std::to_string(kRanks - 1) ? 1 : 0;
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(right, kRanks);
}

}  // namespace
}  // namespace hpcboot::rendezvous
