#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "admission.hpp"
#include "handler.hpp"
#include "place.hpp"
#include "stream.hpp"

struct epoll_event;

namespace hpcboot::rendezvous {

// The thread of a server: its listener, its connections, and the socket of its handler.
class ServerLoop {
 public:
  // @param rank0 the process that holds rank 0, so that no other process can claim it first
  // @throws Error{exchange_failed} if the system lacks the required resources
  ServerLoop(Socket listener, Place place, World world, const std::optional<Token>& rank0,
             std::unique_ptr<Handler> handler);
  // Sends pending answers for at most a second, and waits for the handler's farewell.
  ~ServerLoop();
  ServerLoop(const ServerLoop&) = delete;
  ServerLoop& operator=(const ServerLoop&) = delete;

  const Place& place() const { return place_; }

 private:
  // Ids for epoll; connections have higher numbers.
  static constexpr std::uint64_t kListener = 0;
  static constexpr std::uint64_t kWake = 1;
  static constexpr std::uint64_t kUpstream = 2;

  struct Connection {
    Stream stream;
    Admission admission;
    Clock::time_point since;
    bool is_admitted = false;
    bool is_full = false;       // its next requests wait until it has read answers
    std::uint32_t events = 0;   // for which it is registered
    Clock::time_point moved{};  // when the peer last read something, if data is pending
  };

  bool watch(int fd, std::uint32_t events, std::uint64_t id, int operation) const;
  bool watch_handler() const;
  void run();
  void go_on();
  bool move_handler();
  bool is_done(Clock::time_point& end) const;
  int milliseconds_to_next(Clock::time_point end) const;
  void accept_some();
  void stop_listening();
  void listen_again();
  void dispatch(const epoll_event& event);
  void serve_guarded(std::uint64_t id, std::uint32_t events);
  void turn_away_late(Clock::time_point now);
  void serve(std::uint64_t id, std::uint32_t events);
  bool read_from(std::uint64_t id, Connection& connection);
  bool take_messages(std::uint64_t id, Connection& connection);
  bool admit(std::uint64_t id, Connection& connection);
  bool write_to(std::uint64_t id, Connection& connection) const;
  void queue_answers();
  void deliver();
  void end(std::uint64_t id);
  void end_lost(Clock::time_point now);

  std::unique_ptr<Handler> handler_;
  Socket listener_;
  Place place_;
  World world_;
  Socket epoll_;
  Socket wake_;
  std::atomic<bool> is_stopping_{false};
  // Set while there is no descriptor for the next connection.
  Clock::time_point listens_again_ = Clock::time_point::max();
  // For a relay whose rank 0 has gone: until when its peers can receive their last answers.
  std::optional<Clock::time_point> lost_until_;
  bool handler_awaits_room_ = false;
  std::uint64_t last_id_ = kUpstream;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::set<std::uint64_t> answered_;   // since the last delivery
  std::set<std::uint64_t> strangers_;  // unauthenticated; numbers rise: the oldest is first
  Members members_;
  std::thread thread_;
};

}  // namespace hpcboot::rendezvous
