#include "rendezvous/store/admission.hpp"

#include "fuzz.hpp"
#include "input.hpp"

namespace {

using namespace hpcboot::rendezvous;
using hpcboot::fuzz::change;
using hpcboot::fuzz::Input;
using hpcboot::fuzz::require;

const Secret kSecret("the secret of this launch, 32 by");
constexpr std::uint16_t kPort = 20717;

// A rank's side of a connection, as it would be without an attacker in between.
struct Rank {
  World world;
  std::uint32_t rank = 1;
  std::uint16_t port = kPort;
  Token token{};
  Nonce own{};
  Nonce theirs{};

  void take_challenge(std::string_view challenge) {
    FrameReader reader(challenge.substr(kMagic.size() + 1));
    std::uint8_t kind = 0;
    require(reader.raw(theirs) && reader.u8(kind), "a complete challenge");
    world.kind = static_cast<SecretKind>(kind);
  }

  std::string hello() const {
    FrameWriter hello;
    hello.u8(kVersion);
    hello.u32(rank);
    hello.raw(token);
    hello.raw(own);
    return std::string(kMagic) + hello.bytes();
  }

  Transcript transcript() const {
    const auto kind = static_cast<std::uint8_t>(world.kind);
    return {world.identity, world.size, rank, port, kind, token, own, theirs};
  }
};

// A peer whose knowledge differs from that of rank 1 of this launch. @return whether it must be
// rejected
bool change_what_is_known(Input& input, Rank& rank) {
  switch (input.u8() % 16) {
    case 0:
      rank.world.identity.assign(input.take(4));
      return rank.world.identity != "job 7";
    case 1:
      rank.world.size = input.u8();
      return rank.world.size != 4;
    case 2:
      rank.rank = input.u8();  // the others are free
      return rank.rank >= rank.world.size;
    case 3:
      rank.port = static_cast<std::uint16_t>(kPort ^ input.u8());
      return rank.port != kPort;
    case 4:
      rank.world.secret = Secret(std::string(input.take(kSecret.bytes().size())));
      return rank.world.secret.bytes() != kSecret.bytes();
    case 5:
      rank.token[0] = input.u8();  // another process, with the rank of the first one
      return rank.token[0] != 0;
    default:
      return false;
  }
}

std::string proof_in(const Proof& proof) {
  return {reinterpret_cast<const char*>(proof.data()), proof.size()};
}

// Frames of an admitted rank are accepted one after another, up to the first that is not as sent:
// changed, omitted, repeated, or with another frame's seal.
void send_frames(Input& input, const Rank& rank, FrameGuard store) {
  FrameGuard own(Side::client, rank.world.secret, rank.transcript());
  std::string last_seal;
  while (!input.at_end()) {
    std::string frame(input.take(input.u8() % 64));
    std::string seal;
    own.seal(frame, seal);
    require(seal.size() == store.seal_size(), "seals have the same size at both ends");
    const std::string right = seal;
    bool is_changed = false;
    switch (input.u8() % 8) {
      case 0:
        is_changed = change(input, frame);
        break;
      case 1:
        is_changed = change(input, seal);
        break;
      case 2:
        is_changed = true;  // left out
        seal.clear();
        own.seal(frame, seal);
        break;
      case 3:
        seal = last_seal;
        is_changed = true;
        break;
      case 4:
        seal.resize(input.u8() % 20);
        is_changed = seal != right;
        break;
      case 5:
        frame += static_cast<char>(input.u8());
        is_changed = true;
        break;
      case 6:
        seal.clear();
        store.seal(frame, seal);  // reflected
        is_changed = true;
        break;
      default:
        break;
    }
    require(store.accepts(frame, seal) == !is_changed, "only unchanged frames are accepted");
    if (is_changed) return;
    last_seal = seal;
  }
}

}  // namespace

// The admission of a rank to a store, with an attacker in between who may change every message, or
// with a peer that does not know everything a rank knows: only unchanged messages of a peer that
// knows everything are admitted.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(hpcboot::fuzz::text_of(data, size));
  const World world{"job 7", 4, kSecret};
  Members members;
  members.enter(1, Token{});
  Rank rank{world};
  bool is_changed = change_what_is_known(input, rank);

  Admission admission(world, kPort, members);
  std::string hello = rank.hello();
  is_changed = change(input, hello) || is_changed;
  require(admission.expects() == hello.size(), "a greeting has the expected size");
  std::string answer;
  if (admission.take(hello, answer) != Admission::State::asking) {
    require(is_changed, "an unchanged greeting is answered");
    require(answer.empty() || answer.size() == kChallengeSize, "no reply, or a challenge");
    return 0;
  }
  require(answer.size() == kChallengeSize, "a challenge");
  rank.take_challenge(answer);
  const Nonce nonce = rank.theirs;
  change(input, answer);
  rank.take_challenge(answer);
  is_changed = is_changed || rank.theirs != nonce || rank.world.kind != world.kind;
  std::string proof = proof_in(proof_of(Side::client, rank.world.secret, rank.transcript()));
  is_changed = change(input, proof) || is_changed;

  answer.clear();
  const bool is_in = admission.take(proof, answer) == Admission::State::admitted;
  require(is_in == !is_changed, "exactly the authentic peers are admitted");
  if (!is_in) return 0;
  require(answer == '\0' + proof_in(proof_of(Side::server, kSecret, rank.transcript())),
          "a welcome, and the store's proof");
  send_frames(input, rank, admission.guard());
  return 0;
}
