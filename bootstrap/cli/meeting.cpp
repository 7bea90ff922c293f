#include "meeting.hpp"

#include <algorithm>
#include <initializer_list>
#include <random>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"

namespace hpcboot::tool {
namespace {

constexpr const char* kEndpointKey = "endpoint";

bool is_any_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool may_differ_elsewhere(const Resolution& r, const Env& env) {
  const std::string_view kind = offered_exchange(env);
  return (kind == "pmix" || kind == "pmi1") && r.placement.num_nodes != 1 &&
         !traits_of(r.launcher).hands_on_job_variables &&
         is_any_of(r.provenance.at("master_addr").source, {"allocation", "environment"});
}

// What rank 0 tells of itself: "port address".
std::string own_endpoint(Meeting& meeting) {
  Resolution& r = meeting.resolution;
  const bool is_named = traits_of(r.launcher).serves_a_store ||
                        is_any_of(r.provenance["master_addr"].source, {"explicit", "environment"});
  if (!is_named && r.interface_address) r.master_addr = r.interface_address;
  // A derived port may be taken; one that torchrun's agent serves is none for rank 0.
  if (!r.master_port || r.agent_store || r.provenance["master_port"].source == "rule") {
    meeting.listener = take_a_free_port();
    r.master_port = meeting.listener->port();
  }
  return std::to_string(*r.master_port) + " " + *r.master_addr;
}

}  // namespace

Alone resolve_alone(const Env& env, const Facts& facts) {
  try {
    Resolution r = resolve(env, facts);
    if (r.placement.world_size == 1) return {std::move(r), false};
    const bool may_differ = may_differ_elsewhere(r, env);
    if (r.master_addr && r.master_port) return {std::move(r), may_differ};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::needs_exchange) throw;
  }
  return {};
}

std::unique_ptr<Exchange> open_exchange_for(const Alone& alone, const Env& env,
                                            std::chrono::milliseconds deadline) {
  try {
    return open_exchange(env, deadline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable || !alone.answer) throw;
    return nullptr;
  }
}

void require_exchange(std::string_view kind) {
  if (!kind.empty()) return;
  throw Error(ErrorCode::needs_exchange,
              "the environment does not say where rank 0 listens, and no exchange is offered",
              "PMIx, PMI, or a shared folder in HPCBOOT_EXCHANGE_DIR",
              "set HPCBOOT_EXCHANGE_DIR, or HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT, on every "
              "rank");
}

std::unique_ptr<Listener> take_a_free_port() {
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    try {
      return std::make_unique<Listener>(derive_port(std::to_string(random())), PortUse::exclusive);
    } catch (const Error&) {
      // Taken by another server: the next one.
    }
  }
  return std::make_unique<Listener>(0, PortUse::exclusive);
}

Meeting resolve_together(const Env& env, const Facts& facts, Exchange& exchange,
                         std::chrono::milliseconds deadline) {
  Meeting meeting{resolve_with_exchange(env, facts, exchange, deadline), nullptr};
  Resolution& r = meeting.resolution;
  if (r.placement.rank == 0) exchange.put(kEndpointKey, own_endpoint(meeting));
  exchange.commit(deadline);
  const std::string told = exchange.get(0, kEndpointKey, deadline);
  const std::size_t space = told.find(' ');
  const auto port = parse_whole_number(told.substr(0, space));
  if (!port || *port < 1 || *port > 65535 || space + 1 >= told.size()) {
    throw Error(ErrorCode::exchange_failed, "rank 0 told something else than where it listens",
                "a port from 1 to 65535 and an address",
                "run the same version of this program on every rank");
  }
  r.master_port = static_cast<int>(*port);
  r.master_addr = told.substr(space + 1);
  r.provenance["master_addr"] = r.provenance["master_port"] = {"exchange", exchange.description()};
  // Nobody leaves before all have read: with rank 0 its values may go.
  exchange.fence(deadline);
  return meeting;
}

}  // namespace hpcboot::tool
