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

// What seal_by_munge() sealed for the same purpose, if a process of our user did that.
// @return nullopt with a reason; clocks that differ are named
std::optional<Secret> open_by_munge(const std::string& credential, const std::string& purpose,
                                    std::string& reason);

// Does munged answer on this host?
bool munge_answers();

}  // namespace hpcboot::rendezvous
