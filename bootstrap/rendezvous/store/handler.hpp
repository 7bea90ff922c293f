#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "place.hpp"

namespace hpcboot::rendezvous {

// What a server does with the requests of peers that have proved who they are: answers them itself,
// or hands them on.
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
  // @return false for one that is not of the protocol: the peer is to be cut off
  virtual bool handle(Peer peer, std::string_view frame, Clock::time_point now) = 0;
  // A peer that waits for nothing any more.
  virtual void forget(Peer peer) = 0;
  // Answers those whose time is over.
  virtual void expire(Clock::time_point now) = 0;
  virtual std::optional<Clock::time_point> next_deadline() const = 0;
  virtual std::vector<Reply> take_replies() = 0;

  // How long peers that are still there keep the server from ending.
  virtual std::chrono::milliseconds farewell() const { return std::chrono::milliseconds(0); }
  // A socket that move() is to be called for whenever there is something to read; and when it can
  // be written to, as long as there is something unsent. -1 for none.
  virtual int fd() const { return -1; }
  virtual bool has_unsent() const { return false; }
  // Some of it, and no more than once. @return false if nobody can be served any more
  virtual bool move() { return true; }
};

}  // namespace hpcboot::rendezvous
