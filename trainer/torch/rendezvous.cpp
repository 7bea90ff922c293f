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
#include "rendezvous/store/meeting.hpp"
#include "world_store.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

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

/// Who named an endpoint meets there, on one host, too; but torchrun's agent has that port.
bool can_meet_on_one_host(const Resolution& resolution) {
  const Placement& placement = resolution.placement;
  const bool is_one_host = placement.num_nodes == 1 || placement.local_size == placement.world_size;
  return is_one_host && (resolution.agent_store || !resolution.endpoint_is_explicit);
}

Rendezvous as_rendezvous(rendezvous::Meeting meeting, milliseconds deadline) {
  return {c10::make_intrusive<WorldStore>(std::move(meeting.server), std::move(meeting.client),
                                          deadline),
          std::move(meeting.description)};
}

Rendezvous open_store(const Resolution& resolution, const Env& env, Exchange* exchange,
                      milliseconds deadline) {
  if (resolution.placement.world_size == 1) {
    return {c10::make_intrusive<c10d::HashStore>(), "store in this process"};
  }
  if (exchange != nullptr) {
    return as_rendezvous(rendezvous::meet_by_exchange(resolution, env, *exchange, deadline),
                         deadline);
  }

  if (can_meet_on_one_host(resolution))
    return as_rendezvous(rendezvous::meet_on_one_host(resolution, env, deadline), deadline);

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
  Rendezvous rendezvous = open_store(resolution, env, exchange, deadline);
  rendezvous.store = c10::make_intrusive<c10d::PrefixStore>(
      rendezvous::launch_identity(resolution, env), std::move(rendezvous.store));
  return rendezvous;
}

}  // namespace hpcboot
