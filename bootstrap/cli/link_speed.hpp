#pragma once

#include <chrono>
#include <string>

#include "rendezvous/store/place.hpp"

// How fast bytes pass between two processes over TCP.
namespace hpcboot::tool {

using LinkDeadline = rendezvous::Clock::time_point;

// A process that another one may measure its link to. It listens at one address only, and accepts
// only a peer that knows its token.
class LinkEnd {
 public:
  // @param address of this host. @throws Error{exchange_failed} if it cannot listen there
  explicit LinkEnd(const std::string& address);

  const rendezvous::Place& place() const { return place_; }
  const std::string& token() const { return token_; }

  // Waits at most `wait` for the peer, and takes part in its measurement.
  // @return false if no peer with the token has come
  bool serve(std::chrono::milliseconds wait, LinkDeadline end);

 private:
  rendezvous::Place place_;
  rendezvous::Socket listener_;
  std::string token_;
};

// Measures the link to a LinkEnd in both directions, each for about a fifth of a second.
// @return bytes per second of the slower direction
// @throws Error{peer_lost, deadline_exceeded}
double measure_link(const rendezvous::Place& place, const std::string& token, LinkDeadline end);

}  // namespace hpcboot::tool
