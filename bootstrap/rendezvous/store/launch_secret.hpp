#pragma once

#include <string>

#include "hpcboot/env.hpp"
#include "secret_kind.hpp"

// The secret of a launch over several hosts that no exchange carries. Rank 0 chooses where it comes
// from, the first of: HPCBOOT_RENDEZVOUS_SECRET_FILE, MUNGE, the key file of this user; its server
// says which, and the others look for the same.
namespace hpcboot::rendezvous {

struct LaunchSecret {
  SecretKind kind = SecretKind::none;
  Secret secret;
  std::string sealed;  // what the server shows to everybody, by which ranks get the secret
};

// Rank 0's choice; none if there is nothing.
// @param may_make_key does this user's home serve all hosts of the launch, as in the jobs of a
//        cluster? Elsewhere a key that rank 0 makes would be on its host alone.
// @throws Error{unreadable_file, malformed_file} for a file that is there and must not be used
LaunchSecret choose_secret(const Env& env, const std::string& identity, bool may_make_key);

// Another rank's look for it. No secret is accepted only by a rank that has none either: otherwise
// whoever is at the port first would be rank 0.
// @throws Error, as choose_secret()
FindSecret secret_finder(const Env& env, const std::string& identity);

}  // namespace hpcboot::rendezvous
