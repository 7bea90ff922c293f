#include "table.hpp"

#include <algorithm>
#include <utility>

namespace hpcboot::rendezvous {

bool Table::make_room(std::size_t freed, std::size_t needed) {
  if (needed > largest_ || bytes_ - freed > largest_ - needed) return false;
  bytes_ = bytes_ - freed + needed;
  return true;
}

bool Table::set(const std::string& key, std::string value) {
  const auto found = values_.find(key);
  const bool is_new = found == values_.end();
  const std::size_t freed = is_new ? 0 : kEntry + key.size() + found->second.size();
  if (!make_room(freed, kEntry + key.size() + value.size())) return false;
  if (!is_new) {
    found->second = std::move(value);
    return true;
  }
  values_.emplace(key, std::move(value));
  arrived(key);
  return true;
}

bool Table::append(const std::string& key, const std::string& value) {
  const auto found = values_.find(key);
  if (found == values_.end()) return set(key, value);
  if (!make_room(0, value.size())) return false;
  found->second += value;
  return true;
}

const std::string* Table::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

bool Table::has_all(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(),
                     [this](const std::string& key) { return find(key) != nullptr; });
}

bool Table::erase(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  bytes_ -= kEntry + key.size() + found->second.size();
  values_.erase(found);
  return true;
}

void Table::await(Waiter waiter, const std::vector<std::string>& keys) {
  Waiting waiting;
  for (const std::string& key : keys) {
    if (find(key) != nullptr) continue;
    std::vector<Waiter>& others = waiters_of_[key].waiters;
    // A key may be listed twice.
    if (!others.empty() && others.back() == waiter) continue;
    others.push_back(waiter);
    waiting.keys.push_back(key);
  }
  waiting.missing = waiting.keys.size();
  if (waiting.missing == 0) {
    ready_.push_back(waiter);
    return;
  }
  waiting_.emplace(waiter, std::move(waiting));
}

void Table::forget(Waiter waiter) {
  ready_.erase(std::remove(ready_.begin(), ready_.end(), waiter), ready_.end());
  const auto found = waiting_.find(waiter);
  if (found == waiting_.end()) return;
  const std::vector<std::string> keys = std::move(found->second.keys);
  waiting_.erase(found);
  for (const std::string& key : keys) forget_one(key);
}

void Table::forget_one(const std::string& key) {
  const auto entry = waiters_of_.find(key);
  if (entry == waiters_of_.end()) return;
  Queue& queue = entry->second;
  if (++queue.forgotten * 2 < queue.waiters.size()) return;
  const auto is_forgotten = [this](Waiter waiter) { return waiting_.count(waiter) == 0; };
  queue.waiters.erase(std::remove_if(queue.waiters.begin(), queue.waiters.end(), is_forgotten),
                      queue.waiters.end());
  queue.forgotten = 0;
  if (queue.waiters.empty()) waiters_of_.erase(entry);
}

std::vector<Table::Waiter> Table::take_ready() {
  return std::exchange(ready_, {});
}

void Table::arrived(const std::string& key) {
  const auto entry = waiters_of_.find(key);
  if (entry == waiters_of_.end()) return;
  const std::vector<Waiter> waiters = std::move(entry->second.waiters);
  waiters_of_.erase(entry);
  for (const Waiter waiter : waiters) {
    const auto found = waiting_.find(waiter);
    if (found == waiting_.end() || --found->second.missing > 0) continue;
    waiting_.erase(found);
    ready_.push_back(waiter);
  }
}

}  // namespace hpcboot::rendezvous
