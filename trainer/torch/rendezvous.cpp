#include "rendezvous.hpp"

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "hpcboot/error.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "texts.hpp"
#include "world_store.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPlaceOfTcp = "hpcboot/tcp";

// wait_for_all() counts the ranks, not the store: it can report which ranks are missing.
c10::intrusive_ptr<c10d::TCPStore> open_tcp_store(const std::string& address, std::uint16_t port,
                                                  bool serve, milliseconds deadline) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = serve;
  options.waitWorkers = false;
  // c10d counts whole seconds here; less than one would become zero.
  options.timeout = std::max<milliseconds>(deadline, std::chrono::seconds(1));
  try {
    return c10::make_intrusive<c10d::TCPStore>(address, options);
  } catch (const std::exception& cause) {
    throw Error(ErrorCode::exchange_failed,
                "LibTorch's TCPStore at " + address + " port " + std::to_string(port) +
                    " cannot be opened (" + first_line(cause.what()) + ")",
                "a store that rank 0 serves and all ranks can reach",
                "omit --store tcp: hpcboot's own store needs less");
  }
}

/// c10d's own store, at a port that the kernel chooses and rank 0 publishes in our store.
Rendezvous open_tcp(const Resolution& resolution, rendezvous::Client& told, milliseconds deadline) {
  const std::string address =
      resolution.interface_address.value_or(resolution.master_addr.value_or(told.place().address));
  if (resolution.placement.rank == 0) {
    auto store = open_tcp_store(address, 0, true, deadline);
    const std::uint16_t port = store->getPort();
    told.set(kPlaceOfTcp, std::to_string(port) + " " + address);
    return {std::move(store), "tcp store at " + address + ":" + std::to_string(port), {}};
  }
  std::vector<std::string> values;
  std::vector<std::string> missing;
  if (!told.get({kPlaceOfTcp}, rendezvous::Clock::now() + deadline, values, missing)) {
    throw Error(ErrorCode::deadline_exceeded, "rank 0 did not publish the address of its TCPStore",
                "rank 0 to open one", "check the output of rank 0");
  }
  const std::size_t space = values.front().find(' ');
  const auto port =
      static_cast<std::uint16_t>(parse_whole_number(values.front().substr(0, space)).value_or(0));
  const std::string place = values.front().substr(space + 1);
  return {open_tcp_store(place, port, false, deadline),
          "tcp store at " + place + ":" + std::to_string(port),
          {}};
}

}  // namespace

Rendezvous open_rendezvous(const Resolution& resolution, const Env& env, KeyValueStore* kvs,
                           StoreKind kind, milliseconds deadline) {
  if (resolution.placement.world_size == 1)
    return {c10::make_intrusive<c10d::HashStore>(), "store in this process", {}};
  const auto meeting = std::make_shared<const rendezvous::Rendezvous>(
      rendezvous::meet(resolution, env, kvs, rendezvous::Purpose::training, deadline));
  auto own = c10::make_intrusive<WorldStore>(meeting, deadline);
  if (kind == StoreKind::own) return {std::move(own), meeting->description, meeting->warning};
  Rendezvous tcp = open_tcp(resolution, *meeting->client, deadline);
  tcp.found_by = std::move(own);
  tcp.warning = meeting->warning;
  return tcp;
}

}  // namespace hpcboot
