#pragma once

#include <optional>
#include <string>

#include "secret.hpp"

// MUNGE (munge(7)): a daemon on every host of a cluster that authenticates users with a shared key.
// Most clusters have it, since Slurm requires it. libmunge is loaded at run time.
namespace hpcboot::rendezvous {

// Seals a secret in a credential that only processes of this user can open, on the hosts of this
// MUNGE realm, within the realm's lifetime for credentials.
// @return nullopt with a reason if this build, machine or daemon cannot
std::optional<std::string> seal_by_munge(const Secret& secret, const std::string& purpose,
                                         std::string& reason);

// Opens what seal_by_munge() sealed for the same purpose in a process of this user; also if the
// credential has expired, is dated in the future by this host's clock, or was opened before: the
// proof that follows shows that the other end knows the secret now.
// @return nullopt with a reason
std::optional<Secret> open_by_munge(const std::string& credential, const std::string& purpose,
                                    std::string& reason);

// Is munged running on this host? A slow one counts.
bool munge_is_there();

}  // namespace hpcboot::rendezvous
