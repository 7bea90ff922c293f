#pragma once

#include <memory>
#include <optional>

#include "admission.hpp"
#include "place.hpp"

namespace hpcboot::rendezvous {

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

  // What has been answered leaves, for at most a second; then all connections end.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the port that it has.
  const Place& place() const;

 private:
  class Loop;
  explicit Server(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace hpcboot::rendezvous
