#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "secret.hpp"

namespace hpcboot::rendezvous {

// Where both ends of a connection get the secret of their launch from. The server names it, and
// both proofs include it, so that nobody between them can change it.
enum class SecretKind : std::uint8_t {
  kernel = 0,    // none: a Unix socket, on which the kernel identifies the user of the other end
  told = 1,      // the launcher's exchange carried it
  file = 2,      // HPCBOOT_RENDEZVOUS_SECRET_FILE
  launcher = 3,  // the launcher gave every rank random bytes
  munge = 4,     // the server seals it for this user, with MUNGE
  key = 5,       // the user's key file
  none = 6,      // there is none: anyone who reaches the port may take part
  run = 7,       // handed over by `hpcboot run`
};
constexpr SecretKind kLastSecretKind = SecretKind::run;

// "the key file of this user", for messages and logs.
std::string_view name_of(SecretKind kind) noexcept;

// Finds a rank's secret of the kind that a server names, possibly in what the server has sealed.
// @return nullopt with a reason if this host has no such secret, or has one while the server has
// none
using FindSecret = std::function<std::optional<Secret>(SecretKind kind, const std::string& sealed,
                                                       std::string& reason)>;

}  // namespace hpcboot::rendezvous
