#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot::rendezvous {

// A secret shared by the ranks of a launch. Wiped on destruction; no operator prints it.
class Secret {
 public:
  // Empty: for a socket on which the kernel identifies the peer.
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  ~Secret() { wipe(); }
  Secret(const Secret&) = default;
  // A moved string may leave its characters behind.
  // NOLINTNEXTLINE(performance-move-constructor-init)
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { other.wipe(); }
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&& other) noexcept;

  // 32 random bytes from the kernel. @throws Error{exchange_failed} if it provides none
  static Secret random();

  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }

 private:
  void wipe();

  std::string bytes_;
};

// SHA-256 of a text that is not secret, truncated to 32 hexadecimal digits: for names.
std::string digest_of(std::string_view text);

// To "00ff…", and back; nullopt for other text.
std::string hex_of(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

using Nonce = std::array<std::uint8_t, 32>;
using Token = std::array<std::uint8_t, 16>;
using Proof = std::array<std::uint8_t, 32>;

// @throws Error{exchange_failed}
Nonce random_nonce();
Token random_token();

// What both sides of a connection have seen. It includes the port, so that a process listening at
// another port of rank 0's host cannot forward a rank's proof to the real server.
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

// Whose proof it is; `session` for the key of the frames that follow.
enum class Side : std::uint8_t { client, server, session };

// HMAC-SHA-256 (RFC 2104), under the secret, of the side's name and the transcript.
Proof proof_of(Side side, const Secret& secret, const Transcript& transcript);

// In constant time.
bool are_equal(const Proof& a, const Proof& b);

}  // namespace hpcboot::rendezvous
