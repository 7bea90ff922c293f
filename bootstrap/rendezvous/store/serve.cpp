#include <cerrno>
#include <cstring>

#include "hpcboot/error.hpp"
#include "meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr auto kTimeForName = std::chrono::seconds(5);

[[noreturn]] void fail_to_serve(const std::vector<Place>& places, int reason) {
  const Place& first = places.front();
  if (reason == EADDRINUSE && places.size() == 1) {
    throw Error(
        ErrorCode::exchange_failed, "port " + std::to_string(first.port) + " of this host is taken",
        "a free port for rank 0's store", "set HPCBOOT_MASTER_PORT to a free port on every rank");
  }
  if (reason == EADDRINUSE) {
    std::string ports;
    for (const Place& place : places) ports += " " + std::to_string(place.port);
    throw Error(ErrorCode::exchange_failed, "all of these ports of this host are taken:" + ports,
                "one free port for rank 0's store",
                "end what is left of earlier runs on this host, or set HPCBOOT_MASTER_PORT to a "
                "free port on every rank");
  }
  throw Error(ErrorCode::exchange_failed,
              "rank 0 cannot serve its store at " + first.text() + ": " + std::strerror(reason),
              "an address of this host and a port that it may open",
              "check HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT on every rank");
}

}  // namespace

bool is_one_host(const Placement& placement) {
  return placement.num_nodes == 1 || placement.local_size == placement.world_size;
}

bool is_chosen_by_user(const Resolution& resolution, const char* field) {
  const auto found = resolution.provenance.find(field);
  return found != resolution.provenance.end() &&
         (found->second.source == "explicit" || found->second.source == "environment");
}

std::shared_ptr<Server> serve_at(const std::vector<Place>& places, const World& world) {
  const auto address = only_address_of(places.front().address, Clock::now() + kTimeForName);
  for (const Place& place : places) {
    std::shared_ptr<Server> server =
        Server::start({address.value_or(place.address), place.port}, world);
    if (!server && errno == EADDRNOTAVAIL) server = Server::start({"", place.port}, world);
    if (server) return server;
    if (errno != EADDRINUSE) break;
  }
  fail_to_serve(places, errno);
}

Place own_way_to(const Server& server) {
  Place place = server.place();
  if (place.address.empty()) place.address = "127.0.0.1";
  return place;
}

}  // namespace hpcboot::rendezvous
