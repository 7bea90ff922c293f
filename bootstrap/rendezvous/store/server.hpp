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

// Rank 0's store: one thread that serves every rank of a world and nobody else.
//
// A stranger's connection costs a descriptor for at most two seconds, whatever it sends or does not
// send, and there are never more than 256 of them.
class Server {
 public:
  // Listens at the place, whose port may be 0. A place of this host ("@NAME") is for our user
  // alone.
  // @return nullptr with errno set if the place is taken or not of this host
  // @throws Error{exchange_failed} if the system lacks what a server needs
  // @param rank0 the process that is rank 0, before anybody else can say so
  static std::unique_ptr<Server> start(Place place, World world,
                                       const std::optional<Token>& rank0 = std::nullopt);

  // Serves the ranks of a host by handing their requests on. If rank 0 goes away, so does this.
  // @param places the first that is free is taken
  // @param world the same ranks, as they find each other on this host
  // @param upstream to rank 0's store
  // @return nullptr if no place is free. @throws as start()
  static std::unique_ptr<Server> start_relay(const std::vector<Place>& places, const World& world,
                                             Link upstream);

  // What has been answered leaves, for at most a second; then all connections end. A relay stays
  // for at most 3 seconds until its peers have gone.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the port that it has.
  const Place& place() const;

 private:
  explicit Server(std::unique_ptr<ServerLoop> loop);
  static std::unique_ptr<Server> start(Socket listener, Place place, World world,
                                       const std::optional<Token>& rank0,
                                       std::unique_ptr<Handler> handler);

  std::unique_ptr<ServerLoop> loop_;
};

}  // namespace hpcboot::rendezvous
