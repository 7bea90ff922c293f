#include "rendezvous.hpp"

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

constexpr char kEndpointKey[] = "hpcboot.endpoint";

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  std::string text() const {
    const bool numeric_ipv6 = address.find(':') != std::string::npos;
    return (numeric_ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
  }
};

// The ranks are counted by roll_call(), which can tell who is missing, and not by the store.
c10::intrusive_ptr<c10d::TCPStore> open_tcp_store(const Endpoint& endpoint, bool serve,
                                                  milliseconds deadline) {
  c10d::TCPStoreOptions options;
  options.port = endpoint.port;
  options.isServer = serve;
  options.waitWorkers = false;
  // c10d counts whole seconds here; less than one would be none.
  options.timeout = std::max<milliseconds>(deadline, std::chrono::seconds(1));
  return c10::make_intrusive<c10d::TCPStore>(endpoint.address, options);
}

c10::intrusive_ptr<c10d::TCPStore> serve(const Endpoint& endpoint, milliseconds deadline) {
  try {
    return open_tcp_store(endpoint, true, deadline);
  } catch (const std::exception& cause) {
    const std::string text = cause.what();
    if (text.find("ddress already in use") != std::string::npos) {  // capital up to 1.13
      throw Error(ErrorCode::exchange_failed,
                  "port " + std::to_string(endpoint.port) + " of this host is taken",
                  "a free port for rank 0's store",
                  "set HPCBOOT_MASTER_PORT to a free port on every rank");
    }
    throw Error(ErrorCode::exchange_failed,
                "rank 0 cannot serve its store at " + endpoint.text() + " (" +
                    text.substr(0, text.find('\n')) + ")",
                "an address of this host and a port that it may open",
                "check HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT on every rank");
  }
}

c10::intrusive_ptr<c10d::TCPStore> connect(const Endpoint& endpoint, const std::string& server,
                                           milliseconds deadline) {
  try {
    return open_tcp_store(endpoint, false, deadline);
  } catch (const std::exception& cause) {
    const std::string text = cause.what();
    throw Error(ErrorCode::deadline_exceeded,
                "no store answered at " + endpoint.text() + " within " +
                    std::to_string(deadline.count()) + " ms (" + text.substr(0, text.find('\n')) +
                    ")",
                server + " to serve it there",
                "check that " + server +
                    " has started and that a firewall lets its port through; HPCBOOT_MASTER_ADDR, "
                    "HPCBOOT_MASTER_PORT and HPCBOOT_INTERFACE choose another place");
  }
}

/// What tells this launch from another one that uses the same store or the same port, equal on all
/// ranks.
std::string launch_identity(const Resolution& resolution, const Env& env) {
  std::string identity = "hpcboot/" + std::to_string(resolution.placement.world_size);
  for (const char* variable :
       {"PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    if (const auto text = env.text(variable)) identity += "/" + std::string(*text);
  }
  return identity;
}

/// The endpoint of the resolution, where it has one.
std::optional<Endpoint> resolved_endpoint(const Resolution& resolution) {
  if (!resolution.master_addr || !resolution.master_port) return std::nullopt;
  const int port = *resolution.master_port;
  if (port < 1 || port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorCode::malformed_value, "master_port " + std::to_string(port),
                "a port from 1 to 65535", "set HPCBOOT_MASTER_PORT to one on every rank");
  }
  return Endpoint{*resolution.master_addr, static_cast<std::uint16_t>(port)};
}

Endpoint parse_published(const std::string& text) {
  const auto space = text.rfind(' ');
  const auto port = space == std::string::npos
                        ? std::nullopt
                        : parse_whole_number(std::string_view(text).substr(space + 1));
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorCode::exchange_failed, "rank 0 published '" + text + "' as its endpoint",
                "an address and a port", "run the same version of this program on every rank");
  }
  return {text.substr(0, space), static_cast<std::uint16_t>(*port)};
}

/// Did a user set this field, with HPCBOOT_MASTER_ADDR, MASTER_PORT and their like?
bool is_chosen_by_user(const Resolution& resolution, const char* field) {
  const auto found = resolution.provenance.find(field);
  return found != resolution.provenance.end() &&
         (found->second.source == "explicit" || found->second.source == "environment");
}

/// Rank 0 lets the kernel choose the port and tells the others, so that no port can be taken. What
/// a user chose alone, the address or the port, holds.
Rendezvous publish_or_look_up(const Resolution& resolution, Exchange& exchange,
                              milliseconds deadline) {
  if (resolution.placement.rank != 0) {
    exchange.commit(deadline);
    const Endpoint endpoint = parse_published(exchange.get(0, kEndpointKey, deadline));
    return {connect(endpoint, "rank 0", deadline),
            "tcp store at " + endpoint.text() + ", published by " + exchange.description()};
  }
  const std::optional<std::string> address =
      resolution.interface_address && !is_chosen_by_user(resolution, "master_addr")
          ? resolution.interface_address
          : resolution.master_addr;
  if (!address) {
    throw Error(ErrorCode::no_usable_interface, "no address of this host that others can reach",
                "a network interface that is up", "set HPCBOOT_INTERFACE or HPCBOOT_MASTER_ADDR");
  }
  Endpoint endpoint{*address, 0};
  if (is_chosen_by_user(resolution, "master_port")) {
    endpoint.port = static_cast<std::uint16_t>(*resolution.master_port);
  }
  const auto store = serve(endpoint, deadline);
  endpoint.port = store->getPort();
  exchange.put(kEndpointKey, endpoint.address + " " + std::to_string(endpoint.port));
  exchange.commit(deadline);
  return {store, "tcp store at " + endpoint.text() + ", published by " + exchange.description()};
}

Rendezvous open_store(const Resolution& resolution, Exchange* exchange, milliseconds deadline) {
  if (resolution.placement.world_size == 1) {
    return {c10::make_intrusive<c10d::HashStore>(), "store in this process"};
  }
  if (exchange != nullptr) return publish_or_look_up(resolution, *exchange, deadline);

  const std::optional<Endpoint> endpoint = resolved_endpoint(resolution);
  if (!endpoint) {
    throw Error(ErrorCode::needs_exchange,
                std::to_string(resolution.placement.world_size) + " ranks under " +
                    resolution.launcher + " and nothing that tells them where to meet",
                "an exchange offered by the launcher (PMIx, PMI), or an address and a port",
                "set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT on every rank");
  }
  if (resolution.agent_store) {
    return {connect(*endpoint, "torchrun's agent", deadline),
            "torchrun's store at " + endpoint->text()};
  }
  const bool is_server = resolution.placement.rank == 0;
  return {is_server ? serve(*endpoint, deadline) : connect(*endpoint, "rank 0", deadline),
          "tcp store at " + endpoint->text()};
}

}  // namespace

bool rendezvous_needs_exchange(const Resolution& resolution, const Env& env) {
  return resolution.placement.world_size > 1 && !resolution.agent_store &&
         !resolution.endpoint_is_explicit && exchange_is_offered(env);
}

Rendezvous open_rendezvous(const Resolution& resolution, const Env& env, Exchange* exchange,
                           milliseconds deadline) {
  Rendezvous rendezvous = open_store(resolution, exchange, deadline);
  rendezvous.store = c10::make_intrusive<c10d::PrefixStore>(launch_identity(resolution, env),
                                                            std::move(rendezvous.store));
  return rendezvous;
}

}  // namespace hpcboot
