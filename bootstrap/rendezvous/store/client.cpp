#include "client.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// What needs no waiting for others is answered within this, or not at all.
constexpr milliseconds kTimeForAnswer = std::chrono::seconds(30);
// The server says itself when the time of a wait is up.
constexpr milliseconds kGrace = std::chrono::seconds(5);

// Thousands of ranks that start together must not come back together.
milliseconds with_jitter(milliseconds pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  return pause / 2 + milliseconds(std::uniform_int_distribution<int>(
                         0, static_cast<int>(pause.count()))(random));
}

// "n1:20717, 25001, 31002: Connection refused; n1:28000: another user listens there"
std::string joined(const std::vector<Place>& places, const std::vector<std::string>& reasons) {
  constexpr std::size_t kMost = 600;  // with a thousand hosts to look at
  std::string text;
  for (std::size_t i = 0; i < places.size() && text.size() < kMost; ++i) {
    const bool goes_on = i > 0 && !places[i].is_local() &&
                         places[i].address == places[i - 1].address && reasons[i] == reasons[i - 1];
    const bool ends = i + 1 == places.size() || places[i + 1].address != places[i].address ||
                      reasons[i + 1] != reasons[i] || places[i].is_local();
    text +=
        goes_on ? ", " + std::to_string(places[i].port) : (i == 0 ? "" : "; ") + places[i].text();
    if (ends) text += ": " + reasons[i];
  }
  return text;
}

}  // namespace

std::unique_ptr<Client> Client::connect(const std::vector<Place>& places, Member member,
                                        Deadline end) {
  const auto start = Clock::now();
  std::vector<std::string> reasons(places.size());
  std::vector<bool> is_telling(places.size());
  milliseconds pause(2);
  while (true) {
    std::map<std::string, std::string> silent;  // address -> why: its other ports are no better
    for (std::size_t i = 0; i < places.size(); ++i) {
      // What an attempt without time would say says nothing.
      if (Clock::now() >= end && !reasons[i].empty()) break;
      if (const auto known = silent.find(places[i].address); known != silent.end()) {
        if (!is_telling[i]) reasons[i] = known->second;
        continue;
      }
      Link::Attempt attempt = Link::open(places[i], member, end);
      if (attempt.outcome == Link::Outcome::ours) {
        return std::unique_ptr<Client>(
            new Client({{places[i]}, std::move(member)}, std::move(attempt.link)));
      }
      // That nobody is there any more says less than what somebody has said before.
      const bool is_unreachable = attempt.outcome == Link::Outcome::unreachable;
      const bool tells = !is_unreachable && attempt.outcome != Link::Outcome::nobody_there &&
                         attempt.outcome != Link::Outcome::no_answer;
      if (tells || !is_telling[i]) reasons[i] = attempt.reason;
      is_telling[i] = is_telling[i] || tells;
      if (is_unreachable) silent[places[i].address] = attempt.reason;
      if (attempt.outcome != Link::Outcome::other_version) continue;
      throw Error(ErrorCode::exchange_failed, places[i].text() + ": " + attempt.reason,
                  "one version of hpcboot on every host", "install the same version everywhere");
    }
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(std::min(with_jitter(pause), time_left(end, milliseconds(0))));
    pause = std::min(2 * pause, milliseconds(200));
  }
  const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  throw Error(ErrorCode::deadline_exceeded,
              "rank " + std::to_string(member.rank) + " on " + own_hostname() +
                  " did not find rank 0 within " + std::to_string(waited.count()) +
                  " ms: " + joined(places, reasons),
              "rank 0 to serve the store of this launch there, with a secret that this rank has",
              "look at the output of rank 0: has it started? If so look for a firewall between the "
              "hosts; HPCBOOT_INTERFACE and HPCBOOT_MASTER_ADDR choose another network");
}

Client::Client(Way way, Link first) : way_(std::move(way)) {
  idle_.push_back(std::move(first));
}

void Client::set_way_out(std::vector<Place> places, Member member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  way_out_ = Way{std::move(places), std::move(member)};
  is_relayed_ = true;
}

Place Client::place() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return way_.places.front();
}

bool Client::is_relayed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_relayed_;
}

SecretKind Client::secret_kind() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return way_.member.world.kind;
}

// @return false if there is none; true also if another thread has taken it
bool Client::take_way_out(int tried) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tried != way_number_) return true;
  if (!way_out_) return false;
  way_ = std::move(*way_out_);
  way_out_.reset();
  is_relayed_ = false;
  ++way_number_;
  idle_.clear();
  return true;
}

bool Client::can_ask_again(Request kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Other links to the same place are no better.
  idle_.clear();
  const bool has_no_effect_twice = kind == Request::set || kind == Request::set_many ||
                                   kind == Request::get || kind == Request::wait ||
                                   kind == Request::check || kind == Request::count;
  return has_no_effect_twice && (way_out_ || way_number_ > 0);
}

void Client::fail_lost(const std::string& what) const {
  if (is_relayed()) {
    throw Error(ErrorCode::peer_lost,
                "the first rank of this host, which hands on what the others ask rank 0, " + what,
                "it to stay until every rank has ended",
                "look for the first error in the output of local rank 0 of " + own_hostname());
  }
  throw Error(ErrorCode::peer_lost, "the store of rank 0 at " + place().text() + " " + what,
              "rank 0 to serve it until every rank has ended",
              "look for the first error in the output of rank 0");
}

void Client::fail_malformed() const {
  throw Error(ErrorCode::exchange_failed,
              "the store of rank 0 at " + place().text() + " sent an answer that is none",
              "one version of hpcboot on every host", "install the same version everywhere");
}

Link Client::take_link(Deadline end) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!idle_.empty()) {
      Link link = std::move(idle_.back());
      idle_.pop_back();
      if (link.is_quiet()) return link;
    }
  }
  return open_link(end);
}

// The store may be busy with strangers, or with others of us; only nobody there is an answer.
Link Client::open_link(Deadline end) {
  for (milliseconds pause(2);; pause = std::min(2 * pause, milliseconds(200))) {
    const auto [way, number] = [this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return std::pair(way_, way_number_);
    }();
    bool is_anybody_there = false;
    std::vector<std::string> reasons;
    for (const Place& place : way.places) {
      Member member = way.member;  // of its own: other threads open links, too
      Link::Attempt attempt = Link::open(place, member, end);
      if (attempt.outcome == Link::Outcome::ours) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (number == way_number_) way_ = {{place}, std::move(member)};
        return std::move(attempt.link);
      }
      is_anybody_there |= attempt.outcome != Link::Outcome::nobody_there;
      reasons.push_back(attempt.reason);
    }
    if (!is_anybody_there && take_way_out(number)) continue;
    if (!is_anybody_there || Clock::now() >= end)
      fail_lost("takes no more connections (" + joined(way.places, reasons) + ")");
    std::this_thread::sleep_for(std::min(with_jitter(pause), time_left(end, milliseconds(0))));
  }
}

void Client::put_back(Link link) {
  constexpr std::size_t kKept = 2;  // each is a descriptor of rank 0's, too
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kKept) idle_.push_back(std::move(link));
}

void Client::require_keys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (key.size() <= kLongestKey) continue;
    throw Error(ErrorCode::exchange_failed,
                "a key of " + std::to_string(key.size()) + " bytes for the store of the ranks",
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
                "a request of " + std::to_string(frame.size()) + " bytes to the store of the ranks",
                "at most 64 MiB at once", "send large data by a collective operation instead");
  }
  return frame;
}

Client::Reply Client::ask(Request kind, const FrameWriter& body, Deadline end) {
  std::uint32_t id = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    id = ++last_id_;
  }
  // A link that failed is not used again: its answer may still come.
  Reply reply;
  Link link = take_link(end);
  for (bool is_again = false;
       !link.send(frame_of(kind, id, body, end), end) || !link.receive(reply.body, end);) {
    if (Clock::now() >= end) fail_lost("does not answer");
    if (is_again || !can_ask_again(kind)) fail_lost("went away");
    is_again = true;
    // Who waits for a day learns sooner that rank 0's host is gone, too.
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
  throw Error(ErrorCode::exchange_failed, "the store of the ranks refuses: " + reason,
              "a request that it can carry out", "look at what this rank asked for");
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
                    " values for the store of the ranks",
                "a value for each key", "correct the call of multiSet()");
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
