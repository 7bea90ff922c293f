#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hpcboot::rendezvous {

// The values that the ranks have published, and the waiters for them. Independent of sockets and
// time.
class Table {
 public:
  using Waiter = std::uint64_t;

  // The size limit: a rank that fills the memory of rank 0's host has a bug.
  static constexpr std::size_t kLargest = std::size_t{1} << 30U;

  explicit Table(std::size_t largest = kLargest) : largest_(largest) {}

  // @return false if the table would exceed its limit; nothing is changed in that case.
  bool set(const std::string& key, std::string value);
  bool append(const std::string& key, const std::string& value);

  // nullptr if the key is not set.
  const std::string* find(const std::string& key) const;
  bool has_all(const std::vector<std::string>& keys) const;
  bool erase(const std::string& key);
  std::size_t size() const { return values_.size(); }

  // Registers a waiter: take_ready() returns it once all keys exist (at once if they already do),
  // unless forget() is called before.
  void await(Waiter waiter, const std::vector<std::string>& keys);
  void forget(Waiter waiter);
  // The waiters whose last key has arrived since the previous call; they are unregistered. A key
  // may have been erased again.
  std::vector<Waiter> take_ready();

 private:
  // Approximate overhead of an entry beside its key and value, which dominates in a table of small
  // entries.
  static constexpr std::size_t kEntry = 128;

  // The waiters for a key, in the order in which they came. Those that were forgotten stay until
  // they are half of it: thousands may be forgotten at the same time.
  struct Queue {
    std::vector<Waiter> waiters;
    std::size_t forgotten = 0;
  };

  bool make_room(std::size_t freed, std::size_t needed);
  void arrived(const std::string& key);
  void forget_one(const std::string& key);

  struct Waiting {
    std::vector<std::string> keys;
    std::size_t missing = 0;
  };

  std::unordered_map<std::string, std::string> values_;
  std::size_t largest_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Queue> waiters_of_;
  std::unordered_map<Waiter, Waiting> waiting_;
  std::vector<Waiter> ready_;
};

}  // namespace hpcboot::rendezvous
