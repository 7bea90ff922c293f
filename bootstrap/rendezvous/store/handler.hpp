#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "place.hpp"

namespace hpcboot::rendezvous {

// Handles the requests of authenticated peers for a server: answers them itself, or forwards them.
class Handler {
 public:
  using Peer = std::uint64_t;
  struct Reply {
    Peer peer;
    std::string frame;
  };

  Handler() = default;
  virtual ~Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  // @param frame without its length
  // @return false for a frame that violates the protocol: the peer must be disconnected
  virtual bool handle(Peer peer, std::string_view frame, Clock::time_point now) = 0;
  // This peer does not wait for any answer any more.
  virtual void forget(Peer peer) = 0;
  // Answers the requests that have timed out.
  virtual void expire(Clock::time_point now) = 0;
  virtual std::optional<Clock::time_point> next_deadline() const = 0;
  virtual std::vector<Reply> take_replies() = 0;

  // For how long connected peers keep the server from ending.
  virtual std::chrono::milliseconds farewell() const { return std::chrono::milliseconds(0); }
  // A socket for which move() must be called whenever it is readable, and when it is writable while
  // has_unsent() is true. -1: none.
  virtual int fd() const { return -1; }
  virtual bool has_unsent() const { return false; }
  // Reads and writes without blocking, at most once each. @return false if no peer can be served
  // any more
  virtual bool move() { return true; }
};

}  // namespace hpcboot::rendezvous
