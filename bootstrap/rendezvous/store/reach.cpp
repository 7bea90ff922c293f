#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "hpcboot/error.hpp"
#include "meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// Up to this size, rank 0 accepts the connections of all ranks within some tenths of a second.
constexpr int kMostDirect = 512;
// A rank keeps up to two idle connections.
constexpr std::uint64_t kDescriptorsOfARank = 2;
constexpr std::uint64_t kOtherDescriptors = 64;
constexpr milliseconds kTimeForRelay = std::chrono::minutes(1);

std::uint64_t most_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_max;
}

World world_of_host(const World& world, const std::string& host_identity) {
  World own{"host/" + host_identity, world.size, {}, SecretKind::kernel};
  own.holders = world.holders;
  return own;
}

// @param own the world of the host's relay; nullptr if another rank runs it
Way connect_and_serve(const std::vector<Place>& places, const World* own, Member member,
                      Clock::time_point end) {
  std::shared_ptr<Client> client = Client::connect(places, std::move(member), end);
  if (own == nullptr) return {nullptr, std::move(client)};
  std::shared_ptr<Server> relay =
      Server::start_relay(local_places(own->identity), *own, client->open_link(end));
  return {std::move(relay), std::move(client)};
}

struct Holder {
  std::uint32_t rank;
  Token token;
  Holders holders;
};

// Rank 0's server sees relays, but not the ranks behind them.
void claim(Client& client, const Holder& holder) {
  if (holder.holders == Holders::many) return;
  const std::string own =
      hex_of({reinterpret_cast<const char*>(holder.token.data()), holder.token.size()});
  const std::string key = "hpcboot/holder/" + std::to_string(holder.rank);
  if (client.compare_set(key, "", own) == own) return;
  throw Error(ErrorCode::exchange_failed,
              "another process is already rank " + std::to_string(holder.rank) + " of this launch",
              "one process for each rank",
              "check whether an earlier launch is still running, or two processes have the same "
              "rank: hpcboot check");
}

// nullptr if there is no relay.
std::shared_ptr<Client> ask_host(const World& own, const Member& member, Clock::time_point end) {
  const auto now = Clock::now();
  const auto patience = std::min<Clock::duration>((end - now) / 2, kTimeForRelay);
  try {
    return Client::connect(local_places(own.identity), {own, member.rank, {}, member.token},
                           now + patience);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::deadline_exceeded) throw;
    return nullptr;
  }
}

}  // namespace

bool relays_by_host(const Placement& placement, std::uint64_t descriptors) {
  if (is_on_one_host(placement) || placement.local_size.value_or(1) == 1) return false;
  const auto size = static_cast<std::uint64_t>(placement.world_size);
  return placement.world_size > kMostDirect ||
         size * kDescriptorsOfARank + kOtherDescriptors > descriptors;
}

Way reach(const Placement& placement, const std::string& host_identity,
          const std::vector<Place>& places, Member member, Clock::time_point end) {
  if (!relays_by_host(placement, most_descriptors()))
    return {nullptr, Client::connect(places, std::move(member), end)};
  const World own = world_of_host(member.world, host_identity);
  const Holder holder{member.rank, member.token, member.world.holders};
  if (placement.local_rank == 0 || member.rank == 0) {
    Way way = connect_and_serve(places, placement.local_rank == 0 ? &own : nullptr,
                                std::move(member), end);
    claim(*way.client, holder);
    return way;
  }
  std::shared_ptr<Client> client = ask_host(own, member, end);
  if (!client) return {nullptr, Client::connect(places, std::move(member), end)};
  claim(*client, holder);
  client->set_way_out(places, std::move(member));
  return {nullptr, std::move(client)};
}

}  // namespace hpcboot::rendezvous
