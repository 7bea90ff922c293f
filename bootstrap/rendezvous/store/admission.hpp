#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "frame_guard.hpp"
#include "secret_kind.hpp"
#include "wire.hpp"

namespace hpcboot::rendezvous {

// How many processes may hold the same rank?
enum class Holders : std::uint8_t { one, many };

// What identifies a world to its own ranks.
struct World {
  std::string identity;
  std::uint32_t size = 1;
  Secret secret;
  SecretKind kind = SecretKind::told;
  Holders holders = Holders::one;
  std::string sealed{};  // the sealed secret, if it is sent to every client
};

// Which process holds which rank. A process may have several connections, but a rank has only one
// process: the first one, even after it has gone. Any other belongs to another run that looks for
// its store at the same place.
class Members {
 public:
  bool enter(std::uint32_t rank, const Token& token);

 private:
  std::unordered_map<std::uint32_t, Token> of_rank_;
};

// The server's side of the four messages at the start of a connection.
class Admission {
 public:
  enum class State { asking, admitted, turned_away };

  Admission(const World& world, std::uint16_t port, Members& members)
      : world_(&world), members_(&members), port_(port) {}

  // The size of the next message in bytes.
  std::size_t expects() const { return has_greeted_ ? kProofSize : kHelloSize; }
  // Takes a message of that size, and appends the answer.
  State take(std::string_view message, std::string& out);
  // The guard for the frames that follow, once admitted.
  FrameGuard guard() const { return {Side::server, world_->secret, transcript()}; }

 private:
  Transcript transcript() const;
  bool greet(std::string_view message, std::string& out);

  const World* world_;
  Members* members_;
  std::uint16_t port_;
  bool has_greeted_ = false;
  std::uint32_t rank_ = 0;
  Token token_{};
  Nonce client_{};
  Nonce server_{};
};

}  // namespace hpcboot::rendezvous
