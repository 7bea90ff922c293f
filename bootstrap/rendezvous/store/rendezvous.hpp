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

// The purpose of a rendezvous. Keeps the ranks of a check apart from those of the training after
// it; and a check admits two processes with the same rank, in order to report them.
enum class Purpose { training, check, exec };

struct Rendezvous {
  std::shared_ptr<Server> server;  // on rank 0
  std::shared_ptr<Server> relay;   // on the first rank of each host of a large launch
  std::shared_ptr<Client> client;
  std::string description;  // where it is and how it is authenticated, for logs and errors
  std::string warning{};    // for the user, on rank 0; empty if all is well
};

// Is an exchange offered by the launcher of this launch? srun without PMIx passes on the variables
// of an outer mpirun.
bool kvs_serves(const Resolution& resolution, const Env& env);

// May another rank's environment name a different endpoint, or none? mpirun over ssh passes a job's
// variables, and a MASTER_ADDR exported by its script, only to the ranks of its own host, and a
// nodefile exists only on the job's first host. In such a launch, either all ranks use the exchange
// or none. An endpoint in HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT is taken to be every rank's.
bool endpoint_may_differ(const Resolution& resolution, const Env& env);

// May another launch in the same job have the same master_port, because it was derived from the job
// alone, though the ranks of this one can agree on another? Two mpirun of MPICH have nothing but
// the job's id. PMIx is not asked: its launchers say which launch this is. Equal on all ranks.
bool port_may_be_shared(const Resolution& resolution, const Env& env);

// Does meet() need an exchange of the launcher? Not after a handover by `hpcboot run`. Equal on all
// ranks.
bool needs_kvs(const Resolution& resolution, const Env& env);

// Without an exchange, does meet() use a Unix socket? Equal on all ranks.
bool meets_on_one_host(const Resolution& resolution, const Env& env);

// The exchange, if needs_kvs(); null if none is needed, or if this machine cannot use it and rank
// 0's host is known without it. @throws Error, as open_kvs()
std::unique_ptr<KeyValueStore> open_kvs_for(const Resolution& resolution, const Env& env,
                                            std::chrono::milliseconds deadline);

// The exchange of this launch, even if meet() does not need it; null as above.
std::unique_ptr<KeyValueStore> open_served_kvs(const Resolution& resolution, const Env& env,
                                               std::chrono::milliseconds deadline);

// Did the user set this field, with HPCBOOT_MASTER_ADDR, MASTER_PORT or similar?
bool is_chosen_by_user(const Resolution& resolution, const char* field);

// Uses the first of these methods that applies:
//  - an exchange, if one is given: it carries rank 0's address and port, chosen by its kernel
//    unless the user set one, and 32 random bytes as the secret of this launch;
//  - on one host, unless the user named an endpoint that other hosts can reach: an abstract Unix
//    socket, on which the kernel identifies the user of the other end;
//  - a handover by `hpcboot run`: one of eight ports on rank 0's host, and the secret;
//  - the endpoint that the user named; else, or if torchrun's agent uses that port, one of eight
//    ports derived from the launch, on rank 0's host as named by the launcher or the job. The
//    secret is that of choose_secret().
// @param kvs null if not needs_kvs()
// @throws Error{deadline_exceeded, exchange_failed, no_usable_interface, needs_exchange,
//         unreadable_file, malformed_file}
Rendezvous meet(const Resolution& resolution, const Env& env, KeyValueStore* kvs, Purpose purpose,
                std::chrono::milliseconds deadline);

}  // namespace hpcboot::rendezvous
