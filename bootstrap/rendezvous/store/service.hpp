#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "handler.hpp"
#include "table.hpp"
#include "wire.hpp"

namespace hpcboot::rendezvous {

// Answers the requests of authenticated peers. Knows frames and time, but no sockets.
class Service : public Handler {
 public:
  explicit Service(std::size_t largest_table = Table::kLargest) : table_(largest_table) {}

  bool handle(Peer peer, std::string_view frame, Clock::time_point now) override;
  void forget(Peer peer) override;
  void expire(Clock::time_point now) override;
  std::optional<Clock::time_point> next_deadline() const override;
  std::vector<Reply> take_replies() override { return std::exchange(replies_, {}); }

 private:
  struct Waiting {
    Peer peer = 0;
    std::uint32_t id = 0;
    bool wants_values = false;
    std::vector<std::string> keys;
    Clock::time_point end;
  };

  bool change(Peer peer, std::uint32_t id, Request kind, FrameReader& body);
  bool look(Peer peer, std::uint32_t id, Request kind, FrameReader& body);
  bool await(Peer peer, std::uint32_t id, bool wants_values, FrameReader& body,
             Clock::time_point now);
  void answer_ready();
  void answer_values(const Waiting& waiting);
  void drop(Table::Waiter waiter);

  void done(Peer peer, std::uint32_t id);
  void number(Peer peer, std::uint32_t id, std::int64_t value);
  void values(Peer peer, std::uint32_t id, const std::vector<std::string>& values);
  void stored(Peer peer, std::uint32_t id, bool has_room);
  void refuse(Peer peer, std::uint32_t id, std::string_view reason);

  Table table_;
  Table::Waiter last_waiter_ = 0;
  std::unordered_map<Table::Waiter, Waiting> waiting_;
  std::set<std::pair<Clock::time_point, Table::Waiter>> deadlines_;
  std::unordered_map<Peer, std::set<Table::Waiter>> waiters_of_;
  std::vector<Reply> replies_;
};

}  // namespace hpcboot::rendezvous
