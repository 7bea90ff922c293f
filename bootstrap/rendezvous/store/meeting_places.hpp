#pragma once

#include "meeting.hpp"

// The ways in which meet() lets ranks find their store.
namespace hpcboot::rendezvous {

Meeting meet_by_exchange(const Resolution& resolution, Exchange& exchange, Holders holders,
                         std::chrono::milliseconds deadline);

Meeting meet_on_one_host(const Resolution& resolution, const Env& env, Holders holders,
                         std::chrono::milliseconds deadline);

Meeting meet_at_endpoint(const Resolution& resolution, const Env& env, Holders holders,
                         std::chrono::milliseconds deadline);

// @{ For those.

// Are all ranks known to be on one host?
bool is_one_host(const Placement& placement);

// Did a user name this field, with HPCBOOT_MASTER_ADDR, MASTER_PORT and their like?
bool is_chosen_by_user(const Resolution& resolution, const char* field);

// Serves at the first port that is free: at the address that the others are told, and at no other;
// if that is none of this host's, as behind a NAT, or a name of several addresses, at all of them.
// @param places of one address, with different ports
// @throws Error{exchange_failed} if all are taken, or the address cannot be used
std::shared_ptr<Server> serve_at(const std::vector<Place>& places, const World& world);

// Where rank 0 itself reaches what it serves.
Place own_way_to(const Server& server);

// @}

}  // namespace hpcboot::rendezvous
