#include <limits>
#include <optional>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPlaceKey = "hpcboot.store";

// Where rank 0 serves, and the secret that authenticates its ranks.
struct Published {
  Place place;
  Secret secret;

  std::string text() const {
    return place.address + " " + std::to_string(place.port) + " " + hex_of(secret.bytes());
  }
};

[[noreturn]] void fail_published() {
  throw Error(ErrorCode::exchange_failed, "rank 0 published a malformed address of its store",
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

// Where rank 0 serves: at its interface, unless the user chose the address; port 0: the kernel
// chooses.
Place own_place(const Resolution& resolution) {
  const std::optional<std::string> address =
      resolution.interface_address && !is_chosen_by_user(resolution, "master_addr")
          ? resolution.interface_address
          : resolution.master_addr;
  if (!address) {
    throw Error(ErrorCode::no_usable_interface,
                "this host has no address that other hosts can reach",
                "a network interface that is up", "set HPCBOOT_INTERFACE or HPCBOOT_MASTER_ADDR");
  }
  return {*address, is_chosen_by_user(resolution, "master_port") ? *resolution.master_port : 0};
}

}  // namespace

Rendezvous meet_by_kvs(const Resolution& resolution, KeyValueStore& kvs, Purpose purpose,
                       milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = end_after(deadline);
  // The secret is unique to this launch, so a fixed identity is sufficient.
  World world{"exchange", static_cast<std::uint32_t>(placement.world_size), Secret::random()};
  world.holders = holders_for(purpose);
  Member member{std::move(world), static_cast<std::uint32_t>(placement.rank)};
  std::shared_ptr<Server> server;
  Place place;
  if (placement.rank == 0) {
    Place told = own_place(resolution);
    server = serve_at({told}, member, end);
    told.port = server->place().port;
    place = own_way_to(server->place());
    kvs.put(kPlaceKey, Published{told, member.world.secret}.text());
    kvs.commit(time_left(end));
  } else {
    kvs.commit(time_left(end));
    Published published = parse_published(kvs.get(0, kPlaceKey, time_left(end)));
    place = published.place;
    member.world.secret = std::move(published.secret);
  }
  const std::string host_identity = digest_of(member.world.secret.bytes());
  Way way = reach(placement, host_identity, {place}, std::move(member), end);
  std::string description =
      "store at " + place.text() + ", published by " + kvs.description() + way.text();
  return {std::move(server), std::move(way.relay), std::move(way.client), std::move(description)};
}

}  // namespace hpcboot::rendezvous
