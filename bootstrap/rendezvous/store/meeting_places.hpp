#pragma once

#include "rendezvous.hpp"
#include "rendezvous/handover.hpp"

// The ways in which meet() lets ranks find their store.
namespace hpcboot::rendezvous {

Rendezvous meet_by_kvs(const Resolution& resolution, KeyValueStore& kvs, Purpose purpose,
                       std::chrono::milliseconds deadline);

Rendezvous meet_on_one_host(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline);

Rendezvous meet_at_endpoint(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline);

Rendezvous meet_by_handover(const Resolution& resolution, const Env& env, const Handover& handover,
                            Purpose purpose, std::chrono::milliseconds deadline);

// @{ For those.

std::string_view name_of(Purpose purpose) noexcept;
Holders holders_for(Purpose purpose) noexcept;

// Serves at the first port that is free: at the address that the others are told, and at no other;
// if that is none of this host's, as behind a NAT, or a name of several addresses, at all of them.
// @param places of one address, with different ports
// A place where a store of the same world is served is of a run before, which is about to end, or
// of another launch that nothing tells from this one: it is waited for, for some seconds.
// @throws Error{exchange_failed} if all are taken, or the address cannot be used, or by that other
//         launch
std::shared_ptr<Server> serve_at(const std::vector<Place>& places, const Member& member,
                                 Clock::time_point end);

// Where a process of this host reaches what is served there.
Place own_way_to(Place place);

// Names of Unix sockets of this host: some, since anybody may take one first.
std::vector<Place> local_places(const std::string& identity);

// What tells this launch from another one of this user on this host.
std::string local_identity(const Resolution& resolution, const Env& env, Purpose purpose);

// A rank's way to the store: its own, or, if relays_by_host() says so, that of the first rank of
// its host, which serves the others by a Unix socket. A host whose first rank does not come forward
// within a minute, or half of the time, does without.
// @param host_identity what tells this launch from another one of this user on this host
struct Way {
  std::shared_ptr<Server> relay;  // on the first rank of a host
  std::shared_ptr<Client> client;

  bool is_through_relay() const { return client->place().is_local(); }
  // For the description of a meeting.
  std::string text() const { return is_through_relay() ? ", through this host's relay" : ""; }
};
Way reach(const Placement& placement, const std::string& host_identity,
          const std::vector<Place>& places, Member member, Clock::time_point end);

// Does one connection a host spare rank 0 more than the detour costs, or has it not enough
// descriptors for all ranks?
// @param descriptors that a process may have (RLIMIT_NOFILE)
bool relays_by_host(const Placement& placement, std::uint64_t descriptors);

// The eight ports at which a launch looks for its store, in their order: anybody may have one.
// @param except the program's own
std::vector<int> port_series(const std::string& identity, std::optional<int> except = {});

// @}

}  // namespace hpcboot::rendezvous
