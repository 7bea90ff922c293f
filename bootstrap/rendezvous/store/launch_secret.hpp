#pragma once

#include <cstdint>
#include <string>

#include "hpcboot/env.hpp"
#include "secret_kind.hpp"

// The secret of a launch without an exchange. Rank 0 chooses its kind; its server names the kind,
// and the other ranks look for the same one.
namespace hpcboot::rendezvous {

struct LaunchSecret {
  SecretKind kind = SecretKind::none;
  Secret secret;
  std::string sealed;  // sent by the server to every client; contains the secret for the ranks
};

// Which key file a launch uses, and whether rank 0 may create it. Equal on all ranks.
enum class KeyUse : std::uint8_t {
  of_this_host,   // all ranks are here: the key named after this host, which rank 0 creates
  of_a_job,       // the user's; rank 0 creates it if the home folder is on a network file system
  of_many_hosts,  // the user's, which has been copied to all of them
};

// Rank 0's choice, in this order: HPCBOOT_RENDEZVOUS_SECRET_FILE; MUNGE, if it can open its own
// credential on this host; the key file; none. Outside a cluster's jobs, the key file precedes
// MUNGE, since each host may have its own MUNGE key.
// @throws Error{unreadable_file, malformed_file} for a file that exists but must not be used
LaunchSecret choose_secret(const Env& env, const std::string& identity, KeyUse use);

// A rank's search for it. A server without a secret is accepted only by a rank that has none
// either: otherwise whoever listens at the port first would be rank 0.
// @throws Error, as choose_secret(), for the file that the user names
FindSecret secret_finder(const Env& env, const std::string& identity, KeyUse use);

}  // namespace hpcboot::rendezvous
