#include "core/time_left.hpp"
#include "fresh_handover.hpp"
#include "meeting_places.hpp"
#include "rendezvous/launch_identity.hpp"

namespace hpcboot::rendezvous {

Handover fresh_handover(int world_size, std::vector<std::string> hosts) {
  const Secret id = Secret::random();
  return {hex_of(id.bytes().substr(0, 8)), world_size, hex_of(Secret::random().bytes()),
          std::move(hosts)};
}

Rendezvous meet_by_handover(const Resolution& resolution, const Env& env, const Handover& handover,
                            Purpose purpose, std::chrono::milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = end_after(deadline);
  const std::string identity =
      launch_identity(resolution, env) + "/" + std::string(name_of(purpose));
  World world{identity, static_cast<std::uint32_t>(placement.world_size), Secret(handover.secret),
              SecretKind::run};
  world.holders = holders_for(purpose);
  Member member{std::move(world), static_cast<std::uint32_t>(placement.rank)};
  const std::vector<int> ports = port_series("store/" + identity, resolution.master_port);
  const bool is_host_known = handover.hosts.size() == 1;
  std::shared_ptr<Server> server;
  std::vector<Place> places;
  if (placement.rank == 0) {
    // If rank 0 may be on any of the hosts, it does not know which of its names the others try.
    for (const int port : ports) places.push_back({is_host_known ? handover.hosts[0] : "", port});
    server = serve_at(places, member, end);
    places = {own_way_to(server->place())};
  } else {
    for (const int port : ports) {
      for (const std::string& host : handover.hosts) places.push_back({host, port});
    }
  }
  Way way =
      reach(placement, local_identity(resolution, env, purpose), places, std::move(member), end);
  const std::string host = is_host_known ? handover.hosts[0] : way.client->place().address;
  std::string description = way.is_through_relay()
                                ? "store at " + host + way.text()
                                : "store at " + Place{host, way.client->place().port}.text();
  description += ", authenticated by " + std::string(name_of(SecretKind::run));
  return {std::move(server), std::move(way.relay), std::move(way.client), std::move(description)};
}

}  // namespace hpcboot::rendezvous
