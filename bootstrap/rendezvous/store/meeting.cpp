#include "meeting.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "hpcboot/error.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPlaceKey = "hpcboot.store";

// Where rank 0 serves, and the secret that tells its ranks from others.
struct Published {
  Place place;
  Secret secret;

  std::string text() const {
    return place.address + " " + std::to_string(place.port) + " " + hex_of(secret.bytes());
  }
};

[[noreturn]] void fail_published() {
  throw Error(ErrorCode::exchange_failed, "rank 0 published something else than where it serves",
              "an address, a port and a secret",
              "run the same version of this program on every rank");
}

Published parse_published(const std::string& text) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) fail_published();
  const auto port =
      parse_whole_number(std::string_view(text).substr(first + 1, second - first - 1));
  const auto secret = from_hex(std::string_view(text).substr(second + 1));
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max() || !secret)
    fail_published();
  return {{text.substr(0, first), static_cast<int>(*port)}, Secret(*secret)};
}

// Did a user set this field, with HPCBOOT_MASTER_ADDR, MASTER_PORT and their like?
bool is_chosen_by_user(const Resolution& resolution, const char* field) {
  const auto found = resolution.provenance.find(field);
  return found != resolution.provenance.end() &&
         (found->second.source == "explicit" || found->second.source == "environment");
}

// Where rank 0 serves: at its interface, unless a user chose the address; port 0 for one that the
// kernel chooses.
Place own_place(const Resolution& resolution) {
  const std::optional<std::string> address =
      resolution.interface_address && !is_chosen_by_user(resolution, "master_addr")
          ? resolution.interface_address
          : resolution.master_addr;
  if (!address) {
    throw Error(ErrorCode::no_usable_interface, "no address of this host that others can reach",
                "a network interface that is up", "set HPCBOOT_INTERFACE or HPCBOOT_MASTER_ADDR");
  }
  return {*address, is_chosen_by_user(resolution, "master_port") ? *resolution.master_port : 0};
}

[[noreturn]] void fail_to_serve(const Place& place, int reason) {
  if (reason == EADDRINUSE) {
    throw Error(
        ErrorCode::exchange_failed, "port " + std::to_string(place.port) + " of this host is taken",
        "a free port for rank 0's store", "set HPCBOOT_MASTER_PORT to a free port on every rank");
  }
  throw Error(ErrorCode::exchange_failed,
              "rank 0 cannot serve its store at " + place.text() + ": " + std::strerror(reason),
              "an address of this host and a port that it may open",
              "check HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT on every rank");
}

// Serves at the address that the others are told, and at no other; if that is none of this host's,
// as behind a NAT, at all of them.
std::shared_ptr<Server> serve_at(const Place& place, const World& world) {
  std::shared_ptr<Server> server = Server::start(place, world);
  if (!server && errno == EADDRNOTAVAIL) server = Server::start({"", place.port}, world);
  if (!server) fail_to_serve(place, errno);
  return server;
}

// What tells this launch from another one of this user on this host.
std::string local_identity(const Resolution& resolution, const Env& env) {
  std::string identity = launch_identity(resolution, env) + "/" + resolution.launcher + "/" +
                         resolution.job_id.value_or("");
  for (const char* variable :
       {"SLURM_STEP_ID", "SLURM_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"}) {
    identity += "/" + std::string(env.text(variable).value_or(""));
  }
  return identity;
}

}  // namespace

std::string launch_identity(const Resolution& resolution, const Env& env) {
  std::string identity = "hpcboot/" + std::to_string(resolution.placement.world_size);
  for (const char* variable :
       {"PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    if (const auto text = env.text(variable)) identity += "/" + std::string(*text);
  }
  return identity;
}

Meeting meet_by_exchange(const Resolution& resolution, const Env& env, Exchange& exchange,
                         milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = Clock::now() + deadline;
  const auto left = [end] {
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end - Clock::now()));
  };
  Member member{{launch_identity(resolution, env), static_cast<std::uint32_t>(placement.world_size),
                 Secret::random()},
                static_cast<std::uint32_t>(placement.rank)};
  std::shared_ptr<Server> server;
  Place place;
  if (placement.rank == 0) {
    Place told = own_place(resolution);
    server = serve_at(told, member.world);
    place = server->place();
    told.port = place.port;
    if (place.address.empty()) place.address = "127.0.0.1";
    exchange.put(kPlaceKey, Published{told, member.world.secret}.text());
    exchange.commit(left());
  } else {
    exchange.commit(left());
    Published published = parse_published(exchange.get(0, kPlaceKey, left()));
    place = published.place;
    member.world.secret = std::move(published.secret);
  }
  std::shared_ptr<Client> client = Client::connect({place}, std::move(member), end);
  return {std::move(server), std::move(client),
          "store at " + place.text() + ", published by " + exchange.description()};
}

Meeting meet_on_one_host(const Resolution& resolution, const Env& env, milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = Clock::now() + deadline;
  Member member{
      {local_identity(resolution, env), static_cast<std::uint32_t>(placement.world_size), {}},
      static_cast<std::uint32_t>(placement.rank)};
  // Some, since anybody may take a name first.
  std::vector<Place> places;
  const std::string name =
      "@hpcboot-" + std::to_string(geteuid()) + "-" + digest_of(member.world.identity);
  for (int i = 0; i < 8; ++i) places.push_back({name + "-" + std::to_string(i), 0});
  std::shared_ptr<Server> server;
  if (placement.rank == 0) {
    for (const Place& place : places) {
      server = Server::start(place, member.world);
      if (server) break;
    }
    if (!server) {
      throw Error(
          ErrorCode::exchange_failed,
          "rank 0 cannot listen at " + places.front().address + " to -7: " + std::strerror(errno),
          "one of eight names of abstract Unix sockets",
          "end what is left of earlier runs on this host, or see who holds them: ss -xlp");
    }
    places = {server->place()};
  }
  std::shared_ptr<Client> client = Client::connect(places, std::move(member), end);
  const std::string where = client->place().text();
  return {std::move(server), std::move(client), "store of this host at " + where};
}

}  // namespace hpcboot::rendezvous
