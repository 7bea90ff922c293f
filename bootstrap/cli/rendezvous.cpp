#include "rendezvous.hpp"

#include <utility>
#include <vector>

#include "core/address.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "rendezvous/pmix_server.hpp"
#include "rendezvous/store/meet_by_openmpi.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "rendezvous/store/store_kvs.hpp"

namespace hpcboot::tool {
namespace {

constexpr const char* kEndpointKey = "endpoint";

// What rank 0 publishes: "port address".
std::string own_endpoint(Agreement& agreement) {
  Resolution& r = agreement.resolution;
  const bool is_named =
      traits_of(r.launcher).serves_a_store || rendezvous::is_chosen_by_user(r, "master_addr");
  if (!is_named && r.interface_address) r.master_addr = r.interface_address;
  // A derived port may be taken, and one that torchrun's agent serves is not available to rank 0.
  if (!r.master_port || r.agent_store || r.provenance["master_port"].source == "rule") {
    agreement.held = rendezvous::take_a_free_port();
    r.master_port = agreement.held->number();
  }
  return std::to_string(*r.master_port) + " " + *r.master_addr;
}

[[noreturn]] void fail_told() {
  throw Error(ErrorCode::exchange_failed, "rank 0 published something other than its endpoint",
              "a port from 1 to 65535 and an address",
              "run the same version of this program on every rank");
}

// It becomes a part of the program's environment, as if the user had set it.
void take_endpoint(const std::string& told, Resolution& r) {
  const std::size_t space = told.find(' ');
  const auto port = parse_whole_number(told.substr(0, space));
  if (space == std::string::npos || !port || *port < 1 || *port > 65535) fail_told();
  r.master_port = static_cast<int>(*port);
  try {
    r.master_addr = checked_address(kEndpointKey, told.substr(space + 1));
  } catch (const Error&) {
    fail_told();
  }
}

}  // namespace

LocalAnswer resolve_locally(const Env& env, const Facts& facts) {
  try {
    LocalAnswer alone{resolve(env, facts), false};
    const Resolution& r = *alone.answer;
    alone.has_endpoint = r.placement.world_size == 1 || (r.master_addr && r.master_port &&
                                                         !rendezvous::endpoint_may_differ(r, env) &&
                                                         !rendezvous::port_may_be_shared(r, env));
    return alone;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::needs_exchange) throw;
    return {};
  }
}

Way open_way_between(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline) {
  const auto end = end_after(deadline);
  auto kvs = alone.answer ? rendezvous::open_served_kvs(*alone.answer, env, deadline)
                          : open_kvs(env, deadline);
  if (kvs) return {std::move(kvs), {}};
  if (!alone.answer) {
    throw Error(ErrorCode::needs_exchange,
                "the environment does not say which rank this is, and no exchange is offered",
                "PMIx, PMI, or a shared folder in HPCBOOT_EXCHANGE_DIR",
                "set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and HPCBOOT_MASTER_ADDR on every rank");
  }
  Resolution r = *alone.answer;
  // The program opens its own store at the port that a user named.
  r.endpoint_is_explicit = false;
  r.provenance.erase("master_port");
  rendezvous::Rendezvous meeting =
      rendezvous::meet(r, env, nullptr, rendezvous::Purpose::exec, time_left(end));
  std::string warning = meeting.warning;
  return {rendezvous::kvs_over(std::move(meeting), r.placement.rank, r.placement.world_size),
          std::move(warning)};
}

bool must_leave_kvs_alone(const Env& env) {
  return offered_kvs(env) == "pmix" && rendezvous::can_meet_by_openmpi(env) &&
         answers_one_client(env);
}

Way open_other_way(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline) {
  const std::vector<std::string> hosts =
      alone.answer ? alone.answer->hosts : std::vector<std::string>{};
  return {rendezvous::kvs_over(rendezvous::meet_by_openmpi(env, hosts, deadline),
                               env.require_integer("OMPI_COMM_WORLD_RANK", "mpirun"),
                               env.require_integer("OMPI_COMM_WORLD_SIZE", "mpirun", 1)),
          {}};
}

Agreement resolve_together(const Env& env, const Facts& facts, KeyValueStore& kvs,
                           std::chrono::milliseconds deadline) {
  const auto end = end_after(deadline);
  Agreement agreement{resolve_with_kvs(env, facts, kvs, deadline), nullptr};
  Resolution& r = agreement.resolution;
  if (r.placement.rank == 0) kvs.put(kEndpointKey, own_endpoint(agreement));
  kvs.commit(time_left(end));
  take_endpoint(kvs.get(0, kEndpointKey, time_left(end)), r);
  r.provenance["master_addr"] = r.provenance["master_port"] = {"exchange", kvs.description()};
  // No rank leaves before all have read the values: they may vanish with rank 0.
  kvs.fence(time_left(end));
  return agreement;
}

}  // namespace hpcboot::tool
