#include "server.hpp"

#include "core/descriptor_limit.hpp"
#include "relay.hpp"
#include "server_loop.hpp"
#include "service.hpp"

namespace hpcboot::rendezvous {

std::unique_ptr<Server> Server::start(Socket listener, Place place, World world,
                                      const std::optional<Token>& rank0,
                                      std::unique_ptr<Handler> handler) {
  auto loop = std::make_unique<ServerLoop>(std::move(listener), std::move(place), std::move(world),
                                           rank0, std::move(handler));
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

std::unique_ptr<Server> Server::start(Place place, World world, const std::optional<Token>& rank0) {
  // Every rank uses a descriptor here. A program that is exec'ed later keeps the higher limit, as
  // after `ulimit -n` in its script.
  raise_descriptor_limit();
  Socket listener = listen_at(place);
  if (!listener.is_open()) return nullptr;
  return start(std::move(listener), std::move(place), std::move(world), rank0,
               std::make_unique<Service>());
}

std::unique_ptr<Server> Server::start_relay(const std::vector<Place>& places, const World& world,
                                            Link upstream) {
  raise_descriptor_limit();
  for (Place place : places) {
    Socket listener = listen_at(place);
    if (!listener.is_open()) continue;
    return start(std::move(listener), std::move(place), world, std::nullopt,
                 std::make_unique<Relay>(std::move(upstream).into_stream()));
  }
  return nullptr;
}

Server::Server(std::unique_ptr<ServerLoop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;

const Place& Server::place() const {
  return loop_->place();
}

}  // namespace hpcboot::rendezvous
