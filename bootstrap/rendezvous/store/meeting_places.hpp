#pragma once

#include "rendezvous.hpp"
#include "rendezvous/handover.hpp"

// The methods by which meet() lets ranks find their store.
namespace hpcboot::rendezvous {

Rendezvous meet_by_kvs(const Resolution& resolution, KeyValueStore& kvs, Purpose purpose,
                       std::chrono::milliseconds deadline);

Rendezvous meet_on_one_host(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline);

Rendezvous meet_at_endpoint(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline);

Rendezvous meet_by_handover(const Resolution& resolution, const Env& env, const Handover& handover,
                            Purpose purpose, std::chrono::milliseconds deadline);

// @{ Shared by these methods.

std::string_view name_of(Purpose purpose) noexcept;
Holders holders_for(Purpose purpose) noexcept;

// Serves at the first free port, only at the address that the other ranks use. If that is not an
// address of this host, as behind a NAT, or a name with several addresses, serves at all addresses.
// If a store of the same world is already served at a place, it belongs to an earlier run that is
// about to end, or to another launch that cannot be distinguished from this one: this waits some
// seconds for its end.
// @param places with the same address and different ports
// @throws Error{exchange_failed} if all places are taken, the address cannot be used, or that other
//         launch does not end
std::shared_ptr<Server> serve_at(const std::vector<Place>& places, const Member& member,
                                 Clock::time_point end);

// The place at which processes of this host reach a server.
Place own_way_to(Place place);

// Names of Unix sockets on this host: several, since another process may have taken one.
std::vector<Place> local_places(const std::string& identity);

// Distinguishes this launch from others of this user on this host.
std::string local_identity(const Resolution& resolution, const Env& env, Purpose purpose);

// A rank's way to the store: its own connection or, if relays_by_host(), the relay of the first
// rank of its host, which serves the others at a Unix socket. If there is no relay within a minute,
// or half of the remaining time, the ranks of the host connect directly.
// @param host_identity distinguishes this launch from others of this user on this host
struct Way {
  std::shared_ptr<Server> relay;  // on the first rank of a host
  std::shared_ptr<Client> client;

  bool is_through_relay() const { return client->place().is_local(); }
  // For the description of a meeting.
  std::string text() const { return is_through_relay() ? ", through this host's relay" : ""; }
};
Way reach(const Placement& placement, const std::string& host_identity,
          const std::vector<Place>& places, Member member, Clock::time_point end);

// Should ranks connect through a relay on each host? True if this saves rank 0 more than the detour
// costs, or if rank 0 does not have enough descriptors for all ranks.
// @param descriptors that a process may have (RLIMIT_NOFILE)
bool relays_by_host(const Placement& placement, std::uint64_t descriptors);

// The eight ports at which a launch looks for its store, in order: some may be taken.
// @param except the port of the program's own store
std::vector<int> port_series(const std::string& identity, std::optional<int> except = {});

// @}

}  // namespace hpcboot::rendezvous
