#pragma once

#include <cstdint>
#include <string>

#include "hpcboot/env.hpp"
#include "secret_kind.hpp"

// The secret of a launch that no exchange carries. Rank 0 chooses where it comes from; its server
// says which, and the others look for the same.
namespace hpcboot::rendezvous {

struct LaunchSecret {
  SecretKind kind = SecretKind::none;
  Secret secret;
  std::string sealed;  // what the server shows to everybody, by which ranks get the secret
};

// Which key file a launch uses, and may rank 0 make it? The same on all ranks.
enum class KeyUse : std::uint8_t {
  of_this_host,   // all ranks are here: one that bears this host's name, which rank 0 makes
  of_a_job,       // the user's; rank 0 makes it if the home folder is on a network's file system
  of_many_hosts,  // the user's, which somebody has brought to all of them
};

// Rank 0's choice: HPCBOOT_RENDEZVOUS_SECRET_FILE; MUNGE, if it opens here what it has sealed here;
// the key file, which outside of a cluster's jobs comes before MUNGE, whose hosts may have a key
// each; none.
// @throws Error{unreadable_file, malformed_file} for a file that is there and must not be used
LaunchSecret choose_secret(const Env& env, const std::string& identity, KeyUse use);

// A rank's look for it. No secret is accepted only by a rank that has none either: otherwise
// whoever is at the port first would be rank 0.
// @throws Error, as choose_secret(), of the file that is named
FindSecret secret_finder(const Env& env, const std::string& identity, KeyUse use);

}  // namespace hpcboot::rendezvous
