#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "client.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "server.hpp"

// How the ranks of a launch find their store.
namespace hpcboot::rendezvous {

// What the ranks meet for. Those of a check and of the training after it are not taken for each
// other; and a check welcomes two processes that hold one rank, to tell of it.
enum class Purpose { training, check, exec };

struct Rendezvous {
  std::shared_ptr<Server> server;  // on rank 0
  std::shared_ptr<Server> relay;   // on the first rank of each host of a large launch
  std::shared_ptr<Client> client;
  std::string description;  // where it is and what it is proved by, for logs and errors
  std::string warning{};    // for people, on rank 0; empty if all is well
};

// Is an exchange offered, and by the launcher of this launch? srun without PMIx hands on what the
// mpirun around it has set.
bool kvs_serves(const Resolution& resolution, const Env& env);

// May another rank's environment name another endpoint than this one's, or none? mpirun over ssh
// gives a job's variables, and a MASTER_ADDR that its script exports, to the ranks of its own host
// only, and a nodefile lies on the job's first host. All ranks of such a launch exchange, or none.
bool endpoint_may_differ(const Resolution& resolution, const Env& env);

// Will meet() use an exchange of the launcher? Not if `hpcboot run` handed over where to meet. The
// same on all ranks.
bool needs_kvs(const Resolution& resolution, const Env& env);

// And without an exchange, will it use a Unix socket? The same on all ranks.
bool meets_on_one_host(const Resolution& resolution, const Env& env);

// The exchange that needs_exchange() asks for; null if it asks for none, or if this machine cannot
// use it and rank 0's host is known without. @throws Error, as open_kvs()
std::unique_ptr<KeyValueStore> open_kvs_for(const Resolution& resolution, const Env& env,
                                            std::chrono::milliseconds deadline);

// The exchange of this launch, whether meet() needs it or not; null as above.
std::unique_ptr<KeyValueStore> open_served_kvs(const Resolution& resolution, const Env& env,
                                               std::chrono::milliseconds deadline);

// Did a user name this field, with HPCBOOT_MASTER_ADDR, MASTER_PORT and their like?
bool is_chosen_by_user(const Resolution& resolution, const char* field);

// Meets by the first of these that fits:
//  - an exchange, if one is given: it carries where rank 0 serves, at a port that its kernel
//  chooses
//    unless a user named one, and 32 random bytes as the secret of this launch;
//  - on one host, unless a user named an endpoint that other hosts can reach: an abstract Unix
//    socket, whose kernel says whose process the other end is;
//  - what `hpcboot run` handed over: one of eight ports of rank 0's host, and the secret;
//  - the endpoint that a user named; else, as under torchrun, whose agent has that port, one of
//    eight ports derived from the launch, at rank 0's host as the launcher or the job names it. The
//    secret is that of choose_secret().
// @param exchange null if needs_exchange() says no
// @throws Error{deadline_exceeded, exchange_failed, no_usable_interface, needs_exchange,
//         unreadable_file, malformed_file}
Rendezvous meet(const Resolution& resolution, const Env& env, KeyValueStore* kvs, Purpose purpose,
                std::chrono::milliseconds deadline);

}  // namespace hpcboot::rendezvous
