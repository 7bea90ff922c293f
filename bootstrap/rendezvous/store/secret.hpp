#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot::rendezvous {

// What the ranks of a launch know and nobody else does. Wiped when it goes; no operator prints it.
class Secret {
 public:
  // No bytes: for a socket whose kernel says who the peer is.
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  ~Secret() { wipe(); }
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { other.wipe(); }
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&& other) noexcept;

  // 32 bytes of the kernel's. @throws Error{exchange_failed} if it has none
  static Secret random();

  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }

 private:
  void wipe();

  std::string bytes_;
};

// SHA-256 of a text that is no secret, as 32 hexadecimal digits: for names.
std::string digest_of(std::string_view text);

// "00ff…", and back; nullopt for other text.
std::string hex_of(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

using Nonce = std::array<std::uint8_t, 32>;
using Token = std::array<std::uint8_t, 16>;
using Proof = std::array<std::uint8_t, 32>;

// @throws Error{exchange_failed}
Nonce random_nonce();
Token random_token();

// What both sides of a connection have seen of it. The port is part of it, so that whoever listens
// at another port of rank 0's host cannot pass a rank's proof on to the true server.
struct Transcript {
  std::string_view identity;
  std::uint32_t world_size = 0;
  std::uint32_t rank = 0;
  std::uint16_t port = 0;
  std::uint8_t kind = 0;  // SecretKind
  Token token{};
  Nonce client{};
  Nonce server{};
};

// Whose proof it is; `session` for the key of what follows.
enum class Side : std::uint8_t { client, server, session };

// HMAC-SHA-256 (RFC 2104) under the secret of the side's name and the transcript.
Proof proof_of(Side side, const Secret& secret, const Transcript& transcript);

// In a time that does not depend on where they differ.
bool are_equal(const Proof& a, const Proof& b);

}  // namespace hpcboot::rendezvous
