#include "service.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace hpcboot::rendezvous {
namespace {

// Longer waits are shortened: a day is longer than any start.
constexpr std::uint32_t kLongestWait = 24U * 3600U * 1000U;
constexpr std::size_t kNamedKeys = 64;

bool is_key(const std::string& key) {
  return key.size() <= kLongestKey;
}

bool are_keys(const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(), is_key);
}

// Numbers are kept as decimals, as c10d's stores do, so that get() shows them.
std::optional<std::int64_t> to_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool add_safely(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum);
}

}  // namespace

bool Service::handle(Peer peer, std::string_view frame, Clock::time_point now) {
  FrameReader body(frame);
  std::uint32_t id = 0;
  std::uint8_t kind = 0;
  if (!body.u32(id) || !body.u8(kind)) return false;
  const auto request = static_cast<Request>(kind);
  bool is_known = false;
  switch (request) {
    case Request::set:
    case Request::append:
    case Request::add:
    case Request::compare_set:
    case Request::erase:
    case Request::set_many:
      is_known = change(peer, id, request, body);
      break;
    case Request::check:
    case Request::count:
      is_known = look(peer, id, request, body);
      break;
    case Request::get:
    case Request::wait:
      is_known = await(peer, id, request == Request::get, body, now);
      break;
  }
  // Refuse by number, since many ranks may share the connection.
  if (!is_known) refuse(peer, id, "not a valid request of protocol version 1");
  answer_ready();
  return true;
}

bool Service::change(Peer peer, std::uint32_t id, Request kind, FrameReader& body) {
  if (kind == Request::set_many) {
    std::vector<std::string> keys;
    std::vector<std::string> texts;
    if (!body.texts(keys) || !body.texts(texts) || !body.at_end()) return false;
    if (keys.size() != texts.size() || !are_keys(keys)) return false;
    bool has_room = true;
    for (std::size_t i = 0; i < keys.size() && has_room; ++i)
      has_room = table_.set(keys[i], std::move(texts[i]));
    stored(peer, id, has_room);
    return true;
  }
  std::string key;
  if (!body.text(key) || !is_key(key)) return false;
  std::string text;
  std::string desired;
  std::int64_t delta = 0;
  if (kind == Request::add && !body.i64(delta)) return false;
  if ((kind == Request::set || kind == Request::append) && !body.text(text)) return false;
  if (kind == Request::compare_set && (!body.text(text) || !body.text(desired))) return false;
  if (!body.at_end()) return false;
  const std::string* now = table_.find(key);
  if (kind == Request::set) {
    stored(peer, id, table_.set(key, std::move(text)));
  } else if (kind == Request::append) {
    stored(peer, id, table_.append(key, text));
  } else if (kind == Request::erase) {
    number(peer, id, table_.erase(key) ? 1 : 0);
  } else if (kind == Request::add) {
    const auto old = now == nullptr ? 0 : to_number(*now);
    std::int64_t sum = 0;
    if (!old || !add_safely(*old, delta, sum)) {
      refuse(peer, id, old ? "the sum does not fit in 64 bits" : "the value is not a number");
    } else if (!table_.set(key, std::to_string(sum))) {
      stored(peer, id, false);
    } else {
      number(peer, id, sum);
    }
  } else {
    // As in c10d: an empty expectation matches a missing key; returns the current value, or the
    // expectation itself if the key is missing.
    const bool matches = now == nullptr ? text.empty() : *now == text;
    if (matches && !table_.set(key, desired)) {
      stored(peer, id, false);
      return true;
    }
    if (table_.find(key) == nullptr) {
      values(peer, id, {text});
    } else {
      answer_values({peer, id, true, {key}, {}});  // if it fits into a frame
    }
  }
  return true;
}

bool Service::look(Peer peer, std::uint32_t id, Request kind, FrameReader& body) {
  std::vector<std::string> keys;
  if (kind == Request::check && (!body.texts(keys) || !are_keys(keys))) return false;
  if (!body.at_end()) return false;
  if (kind == Request::check) {
    number(peer, id, table_.has_all(keys) ? 1 : 0);
  } else {
    number(peer, id, static_cast<std::int64_t>(table_.size()));
  }
  return true;
}

bool Service::await(Peer peer, std::uint32_t id, bool wants_values, FrameReader& body,
                    Clock::time_point now) {
  std::uint32_t milliseconds = 0;
  std::vector<std::string> keys;
  if (!body.u32(milliseconds) || !body.texts(keys) || !are_keys(keys) || !body.at_end())
    return false;
  const Clock::time_point end =
      now + std::chrono::milliseconds(std::min(milliseconds, kLongestWait));
  Waiting waiting{peer, id, wants_values, std::move(keys), end};
  // The common case, which needs no bookkeeping.
  if (table_.has_all(waiting.keys)) {
    answer_values(waiting);
    return true;
  }
  const Table::Waiter waiter = ++last_waiter_;
  table_.await(waiter, waiting.keys);
  deadlines_.emplace(end, waiter);
  waiters_of_[peer].insert(waiter);
  waiting_.emplace(waiter, std::move(waiting));
  return true;
}

void Service::answer_ready() {
  for (const Table::Waiter waiter : table_.take_ready()) {
    const auto found = waiting_.find(waiter);
    if (found == waiting_.end()) continue;
    const Waiting waiting = found->second;
    drop(waiter);
    answer_values(waiting);
  }
}

// A key that was erased after it had arrived reads as an empty value.
void Service::answer_values(const Waiting& waiting) {
  if (!waiting.wants_values) return done(waiting.peer, waiting.id);
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  texts.reserve(waiting.keys.size());
  for (const std::string& key : waiting.keys) {
    const std::string* text = table_.find(key);
    texts.push_back(text == nullptr ? std::string() : *text);
    bytes += texts.back().size() + 4;
    if (bytes > kLargestFrame - 64)
      return refuse(waiting.peer, waiting.id, "the values together exceed 64 MiB");
  }
  values(waiting.peer, waiting.id, texts);
}

void Service::forget(Peer peer) {
  const auto found = waiters_of_.find(peer);
  if (found == waiters_of_.end()) return;
  const std::set<Table::Waiter> waiters = found->second;
  for (const Table::Waiter waiter : waiters) {
    table_.forget(waiter);
    drop(waiter);
  }
}

void Service::expire(Clock::time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const Table::Waiter waiter = deadlines_.begin()->second;
    const Waiting waiting = waiting_.at(waiter);
    table_.forget(waiter);
    drop(waiter);
    std::vector<std::string> missing;
    for (const std::string& key : waiting.keys) {
      if (table_.find(key) == nullptr && missing.size() < kNamedKeys) missing.push_back(key);
    }
    FrameWriter answer(waiting.id, static_cast<std::uint8_t>(Answer::late));
    answer.texts(missing);
    replies_.push_back({waiting.peer, std::move(answer).frame()});
  }
}

std::optional<Clock::time_point> Service::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

void Service::drop(Table::Waiter waiter) {
  const auto found = waiting_.find(waiter);
  if (found == waiting_.end()) return;
  deadlines_.erase({found->second.end, waiter});
  const auto of_peer = waiters_of_.find(found->second.peer);
  of_peer->second.erase(waiter);
  if (of_peer->second.empty()) waiters_of_.erase(of_peer);
  waiting_.erase(found);
}

void Service::done(Peer peer, std::uint32_t id) {
  replies_.push_back({peer, FrameWriter(id, static_cast<std::uint8_t>(Answer::done)).frame()});
}

void Service::number(Peer peer, std::uint32_t id, std::int64_t value) {
  FrameWriter answer(id, static_cast<std::uint8_t>(Answer::number));
  answer.i64(value);
  replies_.push_back({peer, std::move(answer).frame()});
}

void Service::values(Peer peer, std::uint32_t id, const std::vector<std::string>& values) {
  FrameWriter answer(id, static_cast<std::uint8_t>(Answer::values));
  answer.texts(values);
  replies_.push_back({peer, std::move(answer).frame()});
}

void Service::stored(Peer peer, std::uint32_t id, bool has_room) {
  has_room ? done(peer, id) : refuse(peer, id, "the store is full: 1 GiB");
}

void Service::refuse(Peer peer, std::uint32_t id, std::string_view reason) {
  FrameWriter answer(id, static_cast<std::uint8_t>(Answer::refused));
  answer.text(reason);
  replies_.push_back({peer, std::move(answer).frame()});
}

}  // namespace hpcboot::rendezvous
