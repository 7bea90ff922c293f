#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr auto kTimeForName = std::chrono::seconds(5);
// An earlier run that is ending is gone within this time.
constexpr auto kTimeForTheLast = std::chrono::seconds(6);

[[noreturn]] void fail_to_serve(const std::vector<Place>& places, int reason) {
  const Place& first = places.front();
  if (reason == EADDRINUSE && places.size() == 1) {
    throw Error(
        ErrorCode::exchange_failed, "port " + std::to_string(first.port) + " of this host is taken",
        "a free port for rank 0's store", "set HPCBOOT_MASTER_PORT to a free port on every rank");
  }
  if (reason == EADDRINUSE && first.is_local()) {
    throw Error(
        ErrorCode::exchange_failed,
        "these names of Unix sockets on this host are taken: " + first.address + " to " +
            places.back().address,
        "a free name",
        "end processes left from earlier runs on this host, or find their holders: ss -xlp");
  }
  if (reason == EADDRINUSE) {
    std::string ports;
    for (const Place& place : places) ports += " " + std::to_string(place.port);
    throw Error(ErrorCode::exchange_failed, "all of these ports of this host are taken:" + ports,
                "one free port for rank 0's store",
                "end processes left from earlier runs on this host, or set HPCBOOT_MASTER_PORT to "
                "a free port on every rank");
  }
  throw Error(ErrorCode::exchange_failed,
              "rank 0 cannot serve its store at " + first.text() + ": " + std::strerror(reason),
              "an address of this host and a port that it can bind",
              "check HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT on every rank");
}

[[noreturn]] void fail_same_world(const Place& place) {
  throw Error(
      ErrorCode::exchange_failed,
      "another launch of this user, indistinguishable from this one, is served at " + place.text(),
      "one launch at a time, or a difference that all ranks can see: a job, a step, a port",
      "wait until it ends, or set HPCBOOT_MASTER_PORT to a free port on every rank of this launch");
}

enum class HolderKind { same_world, gone, other };

// Determines who listens there.
HolderKind holder_of(const Place& place, Member member, Clock::time_point end) {
  if (member.world.kind == SecretKind::none) return HolderKind::other;  // anyone could claim this
  switch (Link::open(own_way_to(place), member, end).outcome) {
    case Link::Outcome::ours:
    case Link::Outcome::rank_is_taken:
      return HolderKind::same_world;
    case Link::Outcome::nobody_there:
      return HolderKind::gone;
    case Link::Outcome::no_answer:
    case Link::Outcome::unreachable:
    case Link::Outcome::not_ours:
      break;
  }
  return HolderKind::other;
}

// Listens at this place, or at all addresses if its address is not on this host. `place` is set to
// what was tried last.
std::shared_ptr<Server> start_at(Place& place, const Member& member) {
  std::shared_ptr<Server> server = Server::start(place, member.world, member.token);
  if (server || errno != EADDRNOTAVAIL) return server;
  place.address.clear();
  return Server::start(place, member.world, member.token);
}

// An address is used as it is; a name is replaced by its only address, if it has just one.
std::string address_to_listen_at(const std::string& name, Clock::time_point end) {
  if (is_loopback(name) && !is_numeric_address(name)) return "127.0.0.1";
  return only_address_of(name, std::min(end, Clock::now() + kTimeForName)).value_or(name);
}

}  // namespace

std::string_view name_of(Purpose purpose) noexcept {
  switch (purpose) {
    case Purpose::training:
      return "training";
    case Purpose::check:
      return "check";
    case Purpose::exec:
      return "exec";
  }
  return "?";
}

Holders holders_for(Purpose purpose) noexcept {
  return purpose == Purpose::check ? Holders::many : Holders::one;
}

bool is_chosen_by_user(const Resolution& resolution, const char* field) {
  const auto found = resolution.provenance.find(field);
  return found != resolution.provenance.end() &&
         (found->second.source == "explicit" || found->second.source == "environment");
}

std::shared_ptr<Server> serve_at(const std::vector<Place>& places, const Member& member,
                                 Clock::time_point end) {
  const std::string address = address_to_listen_at(places.front().address, end);
  const auto patience = std::min(end, Clock::now() + kTimeForTheLast);
  int reason = EADDRINUSE;
  for (const Place& one : places) {
    bool is_awaited = false;  // an earlier run, about to end
    while (true) {
      Place place{one.is_local() ? one.address : address, one.port};
      if (std::shared_ptr<Server> server = start_at(place, member)) return server;
      reason = errno;
      if (reason != EADDRINUSE) fail_to_serve(places, reason);
      const HolderKind holder = holder_of(place, member, std::min(end, patience));
      is_awaited = is_awaited || holder == HolderKind::same_world;
      const bool is_late = Clock::now() >= patience;
      if (is_late && is_awaited) fail_same_world(place);
      if (is_late || (holder == HolderKind::other && !is_awaited)) break;
      std::this_thread::sleep_for(milliseconds(20));
    }
  }
  fail_to_serve(places, reason);
}

Place own_way_to(Place place) {
  if (place.address.empty()) place.address = "127.0.0.1";
  return place;
}

std::vector<int> port_series(const std::string& identity, std::optional<int> except) {
  constexpr std::size_t kPorts = 8;
  std::vector<int> ports;
  for (int i = 0; ports.size() < kPorts; ++i) {
    const int port = derive_port(identity + "/" + std::to_string(i));
    if (port != except) ports.push_back(port);
  }
  return ports;
}

}  // namespace hpcboot::rendezvous
