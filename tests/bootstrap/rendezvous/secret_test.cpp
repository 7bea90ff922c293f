#include "rendezvous/store/secret.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "rendezvous/store/meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

TEST(Hex, goes_there_and_back) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(from_hex(hex_of(all)), all);
  EXPECT_EQ(hex_of(std::string("\x00\x09\x9a\xff", 4)), "00099aff");
  EXPECT_EQ(from_hex(""), "");
}

TEST(Hex, other_text_is_none) {
  for (const char* text : {"0", "000", "0g", "g0", "0A", "/0", "0:", "`0", " 0", "0 "})
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
}

// A proof seen on one connection is not valid for another.
TEST(ProofOf, differs_with_all_that_both_sides_have_seen) {
  const Secret secret("0123456789abcdef");
  const Transcript t{"launch", 4, 1, 4711, 1, {}, {}, {}};
  const std::vector<std::function<void(Transcript&)>> changes = {
      [](Transcript& other) { other.identity = "another"; },
      [](Transcript& other) { other.world_size = 5; },
      [](Transcript& other) { other.rank = 2; },
      [](Transcript& other) { other.port = 4712; },
      [](Transcript& other) { other.kind = 2; },
      [](Transcript& other) { other.token[0] = 1; },
      [](Transcript& other) { other.client[0] = 1; },
      [](Transcript& other) { other.server[0] = 1; },
  };
  std::set<Proof> proofs = {proof_of(Side::client, secret, t), proof_of(Side::server, secret, t),
                            proof_of(Side::session, secret, t),
                            proof_of(Side::client, Secret("0123456789abcdeF"), t)};
  EXPECT_EQ(proofs.size(), 4U);
  for (const auto& change : changes) {
    Transcript other = t;
    change(other);
    EXPECT_TRUE(proofs.insert(proof_of(Side::client, secret, other)).second);
  }
  EXPECT_TRUE(are_equal(proof_of(Side::client, secret, t), proof_of(Side::client, secret, t)));
  EXPECT_FALSE(are_equal(proof_of(Side::client, secret, t), proof_of(Side::server, secret, t)));
}

// As any implementation of PROTOCOL.md computes them; the expected values are from Python.
TEST(ProofOf, is_what_the_protocol_says) {
  Transcript t{"job 7", 4, 1, 4711, 1, {}, {}, {}};
  std::iota(t.token.begin(), t.token.end(), std::uint8_t{0});
  t.client.fill(0xc1);
  t.server.fill(0x5e);
  const auto hex = [&t](Side side) {
    const Proof proof = proof_of(side, Secret("the secret of this launch, 32 by"), t);
    return hex_of({reinterpret_cast<const char*>(proof.data()), proof.size()});
  };
  EXPECT_EQ(hex(Side::client), "14f6dd2d13a79c9f3c507acee3f165b4b92e09e68abae74c392bfff1f5d858c5");
  EXPECT_EQ(hex(Side::server), "639dea6d8836e296895120e18a5fdb63466166849d49c2fb69093ec89adef8e3");
}

TEST(MeetingPlaces, are_what_the_protocol_says) {
  EXPECT_EQ(port_series("store/explicit/2//29500/check"),
            (std::vector{26680, 21131, 27582, 20497, 25924, 31543, 25994, 20189}));
  EXPECT_EQ(port_series("store/explicit/2//29500/check", 21131).at(1), 27582);
  EXPECT_EQ(local_places("run/00112233445566ff/4//check///").front().address,
            "@hpcboot-" + std::to_string(geteuid()) + "-9748f5046239a87dd32c8cd5de0be3f4-0");
}

TEST(RandomBytes, are_no_others) {
  EXPECT_NE(random_nonce(), random_nonce());
  EXPECT_NE(random_token(), random_token());
  EXPECT_EQ(Secret::random().bytes().size(), 32U);
  EXPECT_NE(Secret::random().bytes(), Secret::random().bytes());
  EXPECT_NE(random_nonce(), Nonce{});
  errno = EINTR;  // from an earlier call
  EXPECT_NE(random_nonce(), Nonce{});
}

TEST(Secret, leaves_nothing_where_it_was_taken_from) {
  Secret one("a secret");
  const Secret other(std::move(one));
  EXPECT_EQ(other.bytes(), "a secret");
  EXPECT_TRUE(one.empty());  // NOLINT(bugprone-use-after-move): that is the promise
  Secret third("another");
  third = Secret(other);
  EXPECT_EQ(third.bytes(), "a secret");
}

}  // namespace
}  // namespace hpcboot::rendezvous
