#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "link.hpp"

namespace hpcboot::rendezvous {

// A rank's client of the store of its world. Thread-safe: each call uses its own connection, so
// that a call that waits does not block others.
class Client {
 public:
  using Deadline = Clock::time_point;

  // Tries one place after the other until the store of this world answers or the time is up.
  // @throws Error{deadline_exceeded} naming each place and why it was rejected
  static std::unique_ptr<Client> connect(const std::vector<Place>& places, Member member,
                                         Deadline end);

  // All of these: @throws Error{peer_lost} if the store is gone or does not answer,
  // Error{exchange_failed} if it refuses, or for a key of more than 4 KiB.
  void set(const std::string& key, const std::string& value);
  void set_many(const std::vector<std::string>& keys, const std::vector<std::string>& values);
  void append(const std::string& key, const std::string& value);
  // Returns the sum. A missing key counts as 0.
  std::int64_t add(const std::string& key, std::int64_t value);
  std::int64_t add(const std::string& key, std::int64_t value, Deadline end);
  // Replaces the value by `desired` if it equals `expected`. Returns the resulting value.
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  bool erase(const std::string& key);
  bool check(const std::vector<std::string>& keys);
  std::int64_t count();

  // Waits for all keys. @return false if some are missing at the deadline; at most 64 are named
  bool get(const std::vector<std::string>& keys, Deadline end, std::vector<std::string>& values,
           std::vector<std::string>& missing);
  bool wait(const std::vector<std::string>& keys, Deadline end, std::vector<std::string>& missing);

  // Where to continue if the store at the current place goes away, as a host's relay does with its
  // process. An add, append, compare_set or erase in progress fails; all other requests are
  // repeated there.
  void set_way_out(std::vector<Place> places, Member member);

  // Opens a separate connection, for a relay. @throws as the calls above
  Link open_link(Deadline end);

  Place place() const;
  // How both sides authenticated.
  SecretKind secret_kind() const;

 private:
  struct Way {
    std::vector<Place> places;  // only one, once it is known which
    Member member;
  };

  Client(Way way, Link first);

  struct Reply {
    Answer kind = Answer::done;
    std::string body;
  };
  Reply ask(Request kind, const FrameWriter& body, Deadline end);
  Reply ask_at_once(Request kind, const FrameWriter& body);
  Link take_link(Deadline end);
  void put_back(Link link);
  bool take_way_out(int tried);
  bool is_relayed() const;
  static std::string frame_of(Request kind, std::uint32_t id, const FrameWriter& body,
                              Deadline end);
  bool can_ask_again(Request kind);
  static void require_keys(const std::vector<std::string>& keys);
  [[noreturn]] void fail_lost(const std::string& what) const;
  [[noreturn]] void fail_malformed() const;
  std::int64_t number_in(const Reply& reply) const;
  std::vector<std::string> texts_in(const Reply& reply, Answer kind) const;
  void require_done(const Reply& reply) const;

  mutable std::mutex mutex_;
  Way way_;
  int way_number_ = 0;
  std::optional<Way> way_out_;  // set while requests go through a relay
  std::vector<Link> idle_;
  std::uint32_t last_id_ = 0;
};

}  // namespace hpcboot::rendezvous
