#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "client.hpp"
#include "hpcboot/exchange.hpp"
#include "hpcboot/resolve.hpp"
#include "server.hpp"

// How the ranks of a launch find their store, by what both the launcher and the kernel vouch for.
namespace hpcboot::rendezvous {

struct Meeting {
  std::shared_ptr<Server> server;  // on rank 0
  std::shared_ptr<Client> client;
  std::string description;  // where it is, for logs and errors
};

// What tells this launch from another one that uses the same store or the same port; equal on all
// ranks, whichever host they are on.
std::string launch_identity(const Resolution& resolution, const Env& env);

// Rank 0 lets the kernel choose the port and tells the others, so that no port can be taken; an
// address or a port that a user chose alone holds. The exchange carries a secret of this launch,
// too: whoever does not know it is no rank.
// @throws Error{deadline_exceeded, exchange_failed, no_usable_interface}
Meeting meet_by_exchange(const Resolution& resolution, const Env& env, Exchange& exchange,
                         std::chrono::milliseconds deadline);

// For ranks of one host. The kernel says whose process the other end of a Unix socket is: no secret
// is needed, and no port.
// @throws Error{deadline_exceeded, exchange_failed}
Meeting meet_on_one_host(const Resolution& resolution, const Env& env,
                         std::chrono::milliseconds deadline);

}  // namespace hpcboot::rendezvous
