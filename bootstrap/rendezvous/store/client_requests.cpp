#include <algorithm>

#include "client.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"

// The requests of a rank to its store, and the validation of the answers.
namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// Timeout for requests that do not wait for other ranks.
constexpr milliseconds kTimeForAnswer = std::chrono::seconds(30);
// Extra time for the server to report that a wait has timed out.
constexpr milliseconds kGrace = std::chrono::seconds(5);

}  // namespace

void Client::fail_malformed() const {
  throw Error(ErrorCode::exchange_failed,
              "the store of rank 0 at " + place().text() + " sent a malformed answer",
              "the same version of hpcboot on every host", "install the same version everywhere");
}

void Client::require_keys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (key.size() <= kLongestKey) continue;
    throw Error(ErrorCode::exchange_failed,
                "a key of " + std::to_string(key.size()) + " bytes for the store",
                "at most " + std::to_string(kLongestKey), "shorten it");
  }
}

std::string Client::frame_of(Request kind, std::uint32_t id, const FrameWriter& body,
                             Deadline end) {
  FrameWriter request(id, static_cast<std::uint8_t>(kind));
  if (kind == Request::get || kind == Request::wait) {
    const auto left = time_left(end - kGrace, milliseconds(0)).count();
    request.u32(static_cast<std::uint32_t>(std::min<std::int64_t>(left, 0xffffffff)));
  }
  request.raw(body.bytes());
  std::string frame = std::move(request).frame();
  if (frame.size() - 4 > kLargestFrame) {
    throw Error(ErrorCode::exchange_failed,
                "a request of " + std::to_string(frame.size()) + " bytes to the store",
                "at most 64 MiB per request", "use a collective operation for large data");
  }
  return frame;
}

Client::Reply Client::ask(Request kind, const FrameWriter& body, Deadline end) {
  std::uint32_t id = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    id = ++last_id_;
  }
  // A failed link is not reused: its answer may still arrive.
  Reply reply;
  Link link = take_link(end);
  for (bool is_again = false;
       !link.send(frame_of(kind, id, body, end), end) || !link.receive(reply.body, end);) {
    if (Clock::now() >= end) fail_lost("does not answer");
    if (is_again || !can_ask_again(kind)) fail_lost("went away");
    is_again = true;
    // Limited, so that a rank with a long wait notices early that rank 0's host is gone.
    link = take_link(std::min(end, Clock::now() + kTimeForAnswer));
  }
  FrameReader reader(reply.body);
  std::uint32_t answered = 0;
  std::uint8_t answer = 0;
  if (!reader.u32(answered) || !reader.u8(answer) || answered != id) fail_malformed();
  reply.kind = static_cast<Answer>(answer);
  reply.body.erase(0, kHeaderSize - 4);
  put_back(std::move(link));
  if (reply.kind != Answer::refused) return reply;
  std::string reason;
  FrameReader(reply.body).text(reason);
  throw Error(ErrorCode::exchange_failed, "the store refused a request: " + reason,
              "a request that the store can carry out", "check what this rank requested");
}

Client::Reply Client::ask_at_once(Request kind, const FrameWriter& body) {
  return ask(kind, body, Clock::now() + kTimeForAnswer);
}

std::int64_t Client::number_in(const Reply& reply) const {
  FrameReader reader(reply.body);
  std::int64_t value = 0;
  if (reply.kind != Answer::number || !reader.i64(value) || !reader.at_end()) fail_malformed();
  return value;
}

std::vector<std::string> Client::texts_in(const Reply& reply, Answer kind) const {
  FrameReader reader(reply.body);
  std::vector<std::string> texts;
  if (reply.kind != kind || !reader.texts(texts) || !reader.at_end()) fail_malformed();
  return texts;
}

void Client::require_done(const Reply& reply) const {
  if (reply.kind != Answer::done || !reply.body.empty()) fail_malformed();
}

void Client::set(const std::string& key, const std::string& value) {
  require_keys({key});
  FrameWriter body;
  body.text(key);
  body.text(value);
  require_done(ask_at_once(Request::set, body));
}

void Client::set_many(const std::vector<std::string>& keys,
                      const std::vector<std::string>& values) {
  require_keys(keys);
  if (keys.size() != values.size()) {
    throw Error(ErrorCode::exchange_failed,
                std::to_string(keys.size()) + " keys and " + std::to_string(values.size()) +
                    " values for the store",
                "a value for each key", "correct the call to multiSet()");
  }
  FrameWriter body;
  body.texts(keys);
  body.texts(values);
  require_done(ask_at_once(Request::set_many, body));
}

void Client::append(const std::string& key, const std::string& value) {
  require_keys({key});
  FrameWriter body;
  body.text(key);
  body.text(value);
  require_done(ask_at_once(Request::append, body));
}

std::int64_t Client::add(const std::string& key, std::int64_t value) {
  return add(key, value, Clock::now() + kTimeForAnswer);
}

std::int64_t Client::add(const std::string& key, std::int64_t value, Deadline end) {
  require_keys({key});
  FrameWriter body;
  body.text(key);
  body.i64(value);
  return number_in(ask(Request::add, body, end));
}

std::string Client::compare_set(const std::string& key, const std::string& expected,
                                const std::string& desired) {
  require_keys({key});
  FrameWriter body;
  body.text(key);
  body.text(expected);
  body.text(desired);
  const std::vector<std::string> texts =
      texts_in(ask_at_once(Request::compare_set, body), Answer::values);
  if (texts.size() != 1) fail_malformed();
  return texts.front();
}

bool Client::erase(const std::string& key) {
  require_keys({key});
  FrameWriter body;
  body.text(key);
  return number_in(ask_at_once(Request::erase, body)) != 0;
}

bool Client::check(const std::vector<std::string>& keys) {
  require_keys(keys);
  FrameWriter body;
  body.texts(keys);
  return number_in(ask_at_once(Request::check, body)) != 0;
}

std::int64_t Client::count() {
  return number_in(ask_at_once(Request::count, {}));
}

bool Client::get(const std::vector<std::string>& keys, Deadline end,
                 std::vector<std::string>& values, std::vector<std::string>& missing) {
  require_keys(keys);
  FrameWriter body;
  body.texts(keys);
  const Reply reply = ask(Request::get, body, end + kGrace);
  const bool is_late = reply.kind == Answer::late;
  (is_late ? missing : values) = texts_in(reply, is_late ? Answer::late : Answer::values);
  if (!is_late && values.size() != keys.size()) fail_malformed();
  return !is_late;
}

bool Client::wait(const std::vector<std::string>& keys, Deadline end,
                  std::vector<std::string>& missing) {
  require_keys(keys);
  FrameWriter body;
  body.texts(keys);
  const Reply reply = ask(Request::wait, body, end + kGrace);
  const bool is_late = reply.kind == Answer::late;
  if (is_late) missing = texts_in(reply, Answer::late);
  if (!is_late) require_done(reply);
  return !is_late;
}

}  // namespace hpcboot::rendezvous
