#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>

#include "rendezvous/store/service.hpp"
#include "rendezvous/store/stream.hpp"
#include "store_here.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using namespace test;

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

// As any implementation of PROTOCOL.md computes it; the expected bytes are from Python's hmac.
TEST(FrameGuard, seals_as_the_protocol_says) {
  Transcript transcript{"job 7", 4, 1, 4711, 1, {}, {}, {}};
  std::iota(transcript.token.begin(), transcript.token.end(), std::uint8_t{0});
  transcript.client.fill(0xc1);
  transcript.server.fill(0x5e);
  const Secret secret("the secret of this launch, 32 by");
  FrameGuard client(Side::client, secret, transcript);
  FrameGuard server(Side::server, secret, transcript);
  const auto seal = [](FrameGuard& guard, std::string_view frame) {
    std::string out;
    guard.seal(frame, out);
    return hex_of(out);
  };
  EXPECT_EQ(seal(client, "one"), "4ceb36d1d86ffa41cb26e9a0357bda68");
  EXPECT_EQ(seal(client, "two"), "2a0c07fba2ecbc18c9dcd140a0162951");
  EXPECT_EQ(seal(server, "one"), "7fa7c4a7f4c3b814846f135bb3660167");
}

TEST(Stream, ends_when_the_other_end_is_gone_but_not_while_it_is_silent) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  Stream stream{Socket(ends[0])};
  {
    const Socket other(ends[1]);
    EXPECT_EQ(stream.read_some(), Stream::Progress::none);
    stream.put(std::string(std::size_t{4} << 20U, 'x'));  // more than the socket accepts
    EXPECT_TRUE(stream.write_some());
    EXPECT_GT(stream.unsent(), 0U);
  }
  // What it did not read makes this a reset connection, not an end of the data.
  EXPECT_EQ(stream.read_some(), Stream::Progress::ended);
  EXPECT_FALSE(stream.write_some());
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

// A rank that asks for 187 MiB and does not read the answers, until later.
TEST(Store, requests_of_a_rank_that_reads_no_answers_wait) {
  constexpr std::uint32_t kQuestions = 3000;
  const World world = a_world(3);
  const auto server = Server::start(a_place(), world);
  const auto other = join(*server, world, 2);
  const std::string value(std::size_t{64} << 10U, 'v');
  other->set("large", value);
  Member member{world, 1};
  Link link = Link::open(server->place(), member, Clock::now() + 5s).link;
  const auto ask = [&link](std::uint32_t number, Request kind, const std::string& body) {
    FrameWriter request(number, static_cast<std::uint8_t>(kind));
    request.raw(body);
    ASSERT_TRUE(link.send(std::move(request).frame(), Clock::now() + 5s));
  };
  FrameWriter question;
  question.u32(0);
  question.texts({"large"});
  for (std::uint32_t i = 0; i < kQuestions; ++i) ask(i, Request::get, question.bytes());
  FrameWriter last;
  last.text("last");
  last.text("");
  ask(kQuestions, Request::set, last.bytes());
  std::vector<std::string> missing;
  EXPECT_FALSE(other->wait({"last"}, Clock::now() + 2s, missing));
  FrameWriter values;
  values.texts({value});
  for (std::uint32_t i = 0; i < kQuestions; ++i) {
    std::string answer;
    ASSERT_TRUE(link.receive(answer, Clock::now() + 20s));
    std::uint32_t number = 0;
    FrameReader(answer).u32(number);
    ASSERT_EQ(number, i);
    ASSERT_EQ(answer.substr(kHeaderSize - 4), values.bytes());
  }
  EXPECT_TRUE(other->wait({"last"}, Clock::now() + 20s, missing));
}

#ifndef HPCBOOT_SANITIZED  // which keeps freed memory for a while
// Bytes of this process in memory.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t pages = 0;
  file >> whole >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A rank that polls for a key during a run of weeks.
TEST(Service, keeps_nothing_of_the_waits_that_it_has_answered) {
  Service service;
  std::uint32_t sent = 0;
  const auto ask = [&](Service::Peer peer, Request kind,
                       const std::function<void(FrameWriter&)>& fill) {
    FrameWriter request;
    request.u32(++sent);
    request.u8(static_cast<std::uint8_t>(kind));
    fill(request);
    EXPECT_TRUE(service.handle(peer, request.bytes(), Clock::time_point()));
  };
  const auto wait_often = [&](int times) {
    std::size_t answers = 0;
    for (int i = 0; i < times; ++i) {
      ask(1, Request::wait, [](FrameWriter& request) {
        request.u32(1000);
        request.texts({"k"});
      });
      ask(2, Request::set, [](FrameWriter& request) {
        request.text("k");
        request.text("v");
      });
      ask(2, Request::erase, [](FrameWriter& request) { request.text("k"); });
      answers += service.take_replies().size();
    }
    EXPECT_EQ(answers, 3 * static_cast<std::size_t>(times));
  };
  wait_often(1000);
  const std::size_t before = resident();
  wait_often(400'000);
  EXPECT_LT(resident(), before + (std::size_t{4} << 20U));
}
#endif

}  // namespace
}  // namespace hpcboot::rendezvous
