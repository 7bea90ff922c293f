#pragma once

#include <optional>
#include <string>

#include "secret.hpp"

// MUNGE (munge(7)): a daemon on every host of a cluster, with one key, that vouches for users.
// Slurm needs it, so that most clusters have it. libmunge is loaded at run time.
namespace hpcboot::rendezvous {

// A secret in a credential that processes of our user alone can open, on the hosts of this MUNGE
// realm, for as long as the realm lets credentials live.
// @return nullopt with a reason if this build, machine or daemon cannot
std::optional<std::string> seal_by_munge(const Secret& secret, const std::string& purpose,
                                         std::string& reason);

// What seal_by_munge() sealed for the same purpose, if a process of our user did that; also when
// the credential's time is over, or yet to come by this host's clock, or when it was opened before:
// that the other end knows what is inside, and now, its proof will show.
// @return nullopt with a reason
std::optional<Secret> open_by_munge(const std::string& credential, const std::string& purpose,
                                    std::string& reason);

// Is there a munged on this host? One that is slow is one.
bool munge_is_there();

}  // namespace hpcboot::rendezvous
