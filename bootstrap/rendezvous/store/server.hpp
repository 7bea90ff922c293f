#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "admission.hpp"
#include "handler.hpp"
#include "link.hpp"
#include "place.hpp"

namespace hpcboot::rendezvous {

class ServerLoop;

// Rank 0's store: one thread that serves only the ranks of one world.
//
// The connection of an unauthenticated peer uses a descriptor for at most two seconds, whatever it
// sends, and there are never more than 256 of them.
class Server {
 public:
  // Listens at the place, whose port may be 0. A local place ("@NAME") accepts only this user.
  // @return nullptr with errno set if the place is taken or not on this host
  // @throws Error{exchange_failed} if the system lacks the required resources
  // @param rank0 the process that holds rank 0, so that no other process can claim it first
  static std::unique_ptr<Server> start(Place place, World world,
                                       const std::optional<Token>& rank0 = std::nullopt);

  // Serves the ranks of a host by forwarding their requests. Ends if rank 0 goes away.
  // @param places the first free one is used
  // @param world the same ranks, with the identity by which they find each other on this host
  // @param upstream a link to rank 0's store
  // @return nullptr if no place is free. @throws as start()
  static std::unique_ptr<Server> start_relay(const std::vector<Place>& places, const World& world,
                                             Link upstream);

  // Sends pending answers for at most a second, then closes all connections. A relay waits at most
  // 3 seconds until its peers have gone.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the actual port.
  const Place& place() const;

 private:
  explicit Server(std::unique_ptr<ServerLoop> loop);
  static std::unique_ptr<Server> start(Socket listener, Place place, World world,
                                       const std::optional<Token>& rank0,
                                       std::unique_ptr<Handler> handler);

  std::unique_ptr<ServerLoop> loop_;
};

}  // namespace hpcboot::rendezvous
