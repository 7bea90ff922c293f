#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hpcboot::rendezvous {

// What the ranks have told each other, and who waits for it. Knows nothing of sockets or time.
class Table {
 public:
  using Waiter = std::uint64_t;

  // Beyond it nothing more is taken: a rank that fills the memory of rank 0's host has a mistake.
  static constexpr std::size_t kLargest = std::size_t{1} << 30U;

  explicit Table(std::size_t largest = kLargest) : largest_(largest) {}

  // @return false if the table would become larger than that; nothing has changed then.
  bool set(const std::string& key, std::string value);
  bool append(const std::string& key, const std::string& value);

  // nullopt if nobody has set it.
  const std::string* find(const std::string& key) const;
  bool has_all(const std::vector<std::string>& keys) const;
  bool erase(const std::string& key);
  std::size_t size() const { return values_.size(); }

  // From here until forget() the waiter is among take_ready() once all keys are there. At once if
  // they are.
  void await(Waiter waiter, const std::vector<std::string>& keys);
  void forget(Waiter waiter);
  // Those whose last key has come since the last call; they wait no longer. A key may have been
  // erased again.
  std::vector<Waiter> take_ready();

 private:
  // About what an entry costs beside its key and value, by which a table of small ones is large.
  static constexpr std::size_t kEntry = 128;

  bool make_room(std::size_t freed, std::size_t needed);
  void arrived(const std::string& key);

  struct Waiting {
    std::vector<std::string> keys;
    std::size_t missing = 0;
  };

  std::unordered_map<std::string, std::string> values_;
  std::size_t largest_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, std::vector<Waiter>> waiters_of_;
  std::unordered_map<Waiter, Waiting> waiting_;
  std::vector<Waiter> ready_;
};

}  // namespace hpcboot::rendezvous
