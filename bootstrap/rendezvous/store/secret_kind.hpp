#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "secret.hpp"

namespace hpcboot::rendezvous {

// Where both ends of a connection have the secret of their launch from. The server says it; it is
// part of what both prove, so that nobody between them can change it.
enum class SecretKind : std::uint8_t {
  kernel = 0,    // none: a Unix socket, whose kernel says whose process the other end is
  told = 1,      // the launcher's exchange carried it
  file = 2,      // HPCBOOT_RENDEZVOUS_SECRET_FILE
  launcher = 3,  // the launcher gave every rank random bytes
  munge = 4,     // the server seals it for our user, with MUNGE
  key = 5,       // the user's key file
  none = 6,      // there is none: anybody who reaches the port may take part
  run = 7,       // `hpcboot run` handed it over
};
constexpr SecretKind kLastSecretKind = SecretKind::run;

// "the key file of this user", for messages and logs.
std::string_view name_of(SecretKind kind) noexcept;

// A rank's answer to the kind that a server names, and to what that has sealed for it.
// @return nullopt with a reason if this host has no such secret, or a better one than none
using FindSecret = std::function<std::optional<Secret>(SecretKind kind, const std::string& sealed,
                                                       std::string& reason)>;

}  // namespace hpcboot::rendezvous
