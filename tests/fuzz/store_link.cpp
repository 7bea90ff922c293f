#include "rendezvous/store/link.hpp"

#include "fuzz.hpp"
#include "input.hpp"
#include "local_server.hpp"

namespace {

using namespace hpcboot::rendezvous;
using hpcboot::fuzz::change;
using hpcboot::fuzz::Input;
using hpcboot::fuzz::require;
using std::chrono::seconds;

const Secret kSecret("the secret of this launch, 32 by");
constexpr std::uint32_t kRank = 1;

// A server in the place of rank 0, with or without the secret.
class Host : public hpcboot::fuzz::LocalServer {
 public:
  Host(Input& input, const World& world, bool knows_secret)
      : input_(&input), world_(&world), knows_secret_(knows_secret) {}

  std::string sealed;       // what it sends to every client
  bool is_right = false;    // answered as rank 0 would
  bool is_welcome = false;  // and its verdict is a welcome

 private:
  void begin() override {}

  bool step() override {
    if (has_greeted_) return give_verdict();
    return greet();
  }

  bool greet() {
    std::string hello(kHelloSize, '\0');
    if (!take(hello)) return false;
    has_greeted_ = true;
    FrameReader reader(std::string_view(hello).substr(kMagic.size() + 1));
    std::uint32_t rank = 0;
    require(reader.u32(rank) && reader.raw(token_) && reader.raw(client_) && rank == kRank,
            "a rank greets");
    kind_ = input_->u8() % 8;
    sealed = input_->take(input_->u8());
    sealed.resize(20 * sealed.size(), '=');  // also longer than a rank accepts
    FrameWriter challenge;
    challenge.u8(kVersion);
    challenge.raw(server_);
    challenge.u8(kind_);
    challenge.u16(static_cast<std::uint16_t>(sealed.size()));
    std::string text = std::string(kMagic) + challenge.bytes();
    is_changed_ = change(*input_, text);
    send(text + sealed);
    return true;
  }

  bool give_verdict() {
    std::string proof(kProofSize, '\0');
    if (!take(proof)) return false;
    const Secret secret = knows_secret_ ? kSecret : Secret(std::string(input_->take(8)));
    const Transcript transcript{world_->identity, world_->size, kRank,  0, kind_,
                                token_,           client_,      server_};
    const Proof own = proof_of(Side::server, secret, transcript);
    std::string text(reinterpret_cast<const char*>(own.data()), own.size());
    is_changed_ = change(*input_, text) || is_changed_;
    if (input_->u8() % 8 == 1) {
      text = proof;  // reflected
      is_changed_ = true;
    }
    const std::uint8_t verdict = input_->u8() % 4;
    is_right = knows_secret_ && !is_changed_;
    is_welcome = verdict == static_cast<std::uint8_t>(Verdict::welcome);
    send(static_cast<char>(verdict) + text);
    return true;
  }

  Input* input_;
  const World* world_;
  bool knows_secret_;
  bool has_greeted_ = false;
  bool is_changed_ = false;
  std::uint8_t kind_ = 0;
  Token token_{};
  Nonce client_{};
  Nonce server_{};
};

}  // namespace

// A server in the place of rank 0 is accepted only if it knows the secret and no message was
// changed on the way.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(hpcboot::fuzz::text_of(data, size));
  const unsigned how = input.u8();
  const bool is_told = how % 4 < 2;
  const World world{"job 7", 2, is_told ? kSecret : Secret()};
  Host host(input, world, how % 2 == 1);
  Member member{world, kRank};
  if (!is_told) {
    member.find_secret = [&](SecretKind kind, const std::string& sealed,
                             std::string& reason) -> std::optional<Secret> {
      require(kind <= kLastSecretKind && sealed.size() <= kLongestSeal, "a kind, and a short text");
      reason = "another text";
      return sealed == host.sealed ? std::optional(kSecret) : std::nullopt;
    };
  }
  const Link::Attempt attempt = Link::open(host.place(), member, Clock::now() + seconds(5));
  const bool is_ours = attempt.outcome == Link::Outcome::ours;
  const bool is_taken = attempt.outcome == Link::Outcome::rank_is_taken;
  require(is_ours == (host.is_right && host.is_welcome),
          "exactly the authentic server is accepted");
  require(is_taken == (host.is_right && !host.is_welcome),
          "only the authentic server can report a taken rank");
  require(!attempt.reason.empty() || is_ours, "a reason");
  require(is_told || is_ours == !member.find_secret, "a secret is kept once it is proved");
  return 0;
}
