#include <limits>

#include "core/time_left.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "launch_secret.hpp"
#include "meeting_places.hpp"
#include "rendezvous/launch_identity.hpp"

namespace hpcboot::rendezvous {
namespace {

int checked_port(int port) {
  if (port >= 1 && port <= std::numeric_limits<std::uint16_t>::max()) return port;
  throw Error(ErrorCode::malformed_value, "master_port " + std::to_string(port),
              "a port from 1 to 65535", "set HPCBOOT_MASTER_PORT to a valid port on every rank");
}

// The port that the user named, unless torchrun's agent uses it. Else the series, without
// master_port, where the program may open its own store.
std::vector<Place> places_of(const Resolution& resolution, const std::string& identity) {
  if (!resolution.master_addr) {
    throw Error(ErrorCode::needs_exchange,
                "the " + std::to_string(resolution.placement.world_size) +
                    " ranks (launcher: " + resolution.launcher + ") have no way to find each other",
                "an exchange offered by the launcher (PMIx, PMI), or an address and a port",
                "set HPCBOOT_EXCHANGE_DIR to a folder that all hosts share, or HPCBOOT_MASTER_ADDR "
                "and HPCBOOT_MASTER_PORT, on every rank");
  }
  const std::string& address = *resolution.master_addr;
  const bool is_chosen =
      resolution.endpoint_is_explicit || is_chosen_by_user(resolution, "master_port");
  if (is_chosen && resolution.master_port && !resolution.agent_store)
    return {{address, checked_port(*resolution.master_port)}};
  std::vector<Place> places;
  for (const int port : port_series("store/" + identity, resolution.master_port))
    places.push_back({address, port});
  return places;
}

KeyUse key_use_of(const Resolution& resolution) {
  if (is_on_one_host(resolution.placement) || is_loopback(*resolution.master_addr))
    return KeyUse::of_this_host;
  return resolution.scheduler ? KeyUse::of_a_job : KeyUse::of_many_hosts;
}

constexpr const char* kWarning =
    "the ranks share no secret, so anyone who can reach the port of rank 0's store can join this "
    "run or end it: set HPCBOOT_RENDEZVOUS_SECRET_FILE to the same file of mode 0600 on every "
    "rank, copy a key to the hosts with setup/ssh-setup, or run munged on them";

}  // namespace

Rendezvous meet_at_endpoint(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = end_after(deadline);
  const std::string identity =
      launch_identity(resolution, env) + "/" + std::string(name_of(purpose));
  World world{identity, static_cast<std::uint32_t>(placement.world_size), {}};
  world.holders = holders_for(purpose);
  Member member{std::move(world), static_cast<std::uint32_t>(placement.rank)};
  std::vector<Place> places = places_of(resolution, identity);
  member.find_secret = secret_finder(env, identity, key_use_of(resolution));
  std::shared_ptr<Server> server;
  if (placement.rank == 0) {
    LaunchSecret chosen = choose_secret(env, identity, key_use_of(resolution));
    member.world.secret = std::move(chosen.secret);
    member.world.kind = chosen.kind;
    member.world.sealed = std::move(chosen.sealed);
    server = serve_at(places, member, end);
    places = {own_way_to(server->place())};
    member.find_secret = nullptr;
  }
  // Two launches that are otherwise identical may differ in the location of rank 0.
  const std::string host_identity = local_identity(resolution, env, purpose) + "/" +
                                    *resolution.master_addr + "/" +
                                    std::to_string(resolution.master_port.value_or(0));
  Way way = reach(placement, host_identity, places, std::move(member), end);
  const SecretKind kind = way.client->secret_kind();
  const Place where{*resolution.master_addr, way.client->place().port};
  std::string description =
      way.is_through_relay()
          ? "store at " + where.address + way.text()
          : "store at " + where.text() +
                (server && server->place().address.empty() ? " (on every interface)" : "") +
                ", authenticated by " + std::string(name_of(kind));
  Rendezvous meeting{std::move(server), std::move(way.relay), std::move(way.client),
                     std::move(description)};
  if (placement.rank == 0 && kind == SecretKind::none) meeting.warning = kWarning;
  return meeting;
}

}  // namespace hpcboot::rendezvous
