#pragma once

#include <unordered_map>
#include <utility>

#include "handler.hpp"
#include "stream.hpp"

namespace hpcboot::rendezvous {

// Forwards the requests of a host's ranks to rank 0's store over one shared connection: requests
// have numbers, and are answered in any order.
class Relay : public Handler {
 public:
  // @param upstream a connection after mutual authentication
  explicit Relay(Stream upstream) : upstream_(std::move(upstream)) {}

  bool handle(Peer peer, std::string_view frame, Clock::time_point now) override;
  void forget(Peer peer) override;
  void expire(Clock::time_point) override {}  // rank 0's store does this
  std::optional<Clock::time_point> next_deadline() const override { return std::nullopt; }
  std::vector<Reply> take_replies() override { return std::exchange(replies_, {}); }
  // Peers may finish slightly later than the process that serves them.
  std::chrono::milliseconds farewell() const override { return std::chrono::seconds(3); }
  int fd() const override { return upstream_.fd(); }
  bool has_unsent() const override { return upstream_.unsent() > 0; }
  bool move() override;

 private:
  struct Asked {
    Peer peer = 0;
    std::uint32_t id = 0;  // the number that the peer used
  };

  Stream upstream_;
  std::uint32_t last_id_ = 0;
  std::unordered_map<std::uint32_t, Asked> asked_;
  std::vector<Reply> replies_;
};

}  // namespace hpcboot::rendezvous
