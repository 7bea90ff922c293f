#include "rendezvous/store/service.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

#include "fuzz.hpp"
#include "input.hpp"

namespace {

using namespace hpcboot::rendezvous;
using hpcboot::fuzz::Input;
using hpcboot::fuzz::require;
using std::chrono::milliseconds;

// Small enough for inputs to fill it.
constexpr std::size_t kTableSize = 20'000;
constexpr std::size_t kEntry = 128;  // beside key and value
constexpr milliseconds kLongestWait = std::chrono::hours(24);

const std::array<std::string, 8> kKeys = {
    "", "a", "b", "c", "d", std::string(kLongestKey - 1, 'k'), std::string(kLongestKey, 'k'), "n"};
const std::array<std::string, 6> kTexts = {
    "", "7", "-9223372036854775808", "9223372036854775807", "text", std::string(6'000, 'v')};

// Other letters than those of the keys: quickly looked for in a request.
const std::string kTooLong(kLongestKey + 1, 'l');

// One of a few keys, so that requests interact.
const std::string& key_from(Input& input) {
  const std::uint8_t which = input.u8();
  return which == 255 ? kTooLong : kKeys[which % kKeys.size()];
}

const std::string& text_from(Input& input) {
  return kTexts[input.u8() % kTexts.size()];
}

std::vector<std::string> keys_from(Input& input) {
  std::vector<std::string> keys(input.u8() % 5);
  for (std::string& key : keys) key = key_from(input);
  return keys;
}

FrameWriter body_from(Input& input, Request kind) {
  FrameWriter body;
  if (kind == Request::get || kind == Request::wait)
    body.u32(input.u8() * 0x01010101U >> input.u8() % 32U);
  if (kind == Request::check || kind == Request::get || kind == Request::wait)
    body.texts(keys_from(input));
  if (kind == Request::set_many) {
    const auto keys = keys_from(input);
    std::vector<std::string> texts(keys.size());
    for (std::string& text : texts) text = text_from(input);
    body.texts(keys);
    body.texts(texts);
  }
  if (kind <= Request::erase) body.text(key_from(input));
  if (kind <= Request::append || kind == Request::compare_set) body.text(text_from(input));
  if (kind == Request::compare_set) body.text(text_from(input));
  if (kind == Request::add) body.i64(static_cast<std::int8_t>(input.u8()));
  return body;
}

// Is this kind of answer valid for the request?
bool fits(Request request, Answer answer) {
  const bool waits = request == Request::get || request == Request::wait;
  if (answer == Answer::late) return waits;
  if (answer == Answer::refused) return request != Request::wait && request != Request::erase;
  switch (request) {
    case Request::set:
    case Request::append:
    case Request::set_many:
    case Request::wait:
      return answer == Answer::done;
    case Request::add:
    case Request::erase:
    case Request::check:
    case Request::count:
      return answer == Answer::number;
    case Request::compare_set:
    case Request::get:
      return answer == Answer::values;
  }
  return false;
}

// The peers of a service, with their pending requests.
class Peers {
 public:
  void step(Input& input) {
    const unsigned step = input.u8();
    const Service::Peer peer = step % 3;
    if (step < 16) return pass(milliseconds(input.u8() << step));
    if (step < 32) return leave(peer);
    if (step < 40) return require(!service_.handle(peer, input.take(3), now_), "no short frame");
    if (step < 56) return ask(peer, input.take(input.u8()), {});
    const auto kind = static_cast<Request>(1 + input.u8() % 10);
    std::string request(1, static_cast<char>(kind));
    request += body_from(input, kind).bytes();
    if (step < 192) return ask(peer, request, request.find(kTooLong) == std::string::npos);
    request[input.u8() % request.size()] ^= static_cast<char>(input.u8());
    request.resize(request.size() - input.u8() % 4 % request.size());
    ask(peer, request, {});
  }

  void end() {
    const auto waiting = waiting_;
    for (const auto& [id, asked] : waiting)
      require(!has_all(asked.keys), "a waiting request lacks a key");
    require_limit();
    pass(kLongestWait);
    require(waiting_.empty() && !service_.next_deadline(),
            "no request waits for longer than a day");
  }

 private:
  struct Asked {
    Service::Peer peer = 0;
    Request kind = Request::set;
    std::vector<std::string> keys{};
    Clock::time_point end = Clock::time_point::max();
    std::optional<bool> is_right{};  // if known
  };

  // @param request from its kind on
  // @param is_right if that is known
  void ask(Service::Peer peer, std::string_view request, std::optional<bool> is_right) {
    FrameWriter number;
    number.u32(++last_id_);
    const bool is_taken = service_.handle(peer, std::string(number.bytes()).append(request), now_);
    require(is_taken == !request.empty(), "a frame with a number and a kind is answered");
    if (!is_taken) {
      require(service_.take_replies().empty(), "no answer to an invalid frame");
      return leave(peer);
    }
    FrameReader body(request);
    std::uint8_t kind = 0;
    body.u8(kind);
    Asked asked{peer, static_cast<Request>(kind)};
    asked.is_right = is_right;
    std::uint32_t limit = 0;
    const bool waits = (asked.kind == Request::get || asked.kind == Request::wait) &&
                       body.u32(limit) && body.texts(asked.keys);
    if (waits) asked.end = now_ + std::min(milliseconds(limit), kLongestWait);
    has_erased_ = has_erased_ || asked.kind == Request::erase;
    waiting_.emplace(last_id_, std::move(asked));
    take_answers();
    require(waits || waiting_.count(last_id_) == 0,
            "requests other than waits are answered at once");
  }

  // The table can be filled exactly up to its limit.
  void require_limit() {
    std::size_t used = 0;
    std::int64_t entries = 0;
    for (const std::string& key : kKeys) {
      if (!has_all({key})) continue;
      bytes_ = 0;
      FrameWriter wish;
      wish.u32(0);
      wish.texts({key});
      ask(0, static_cast<char>(Request::get) + wish.bytes(), true);
      used += kEntry + key.size() + bytes_;
      ++entries;
    }
    require(used <= kTableSize, "a table within its limit");
    ask(0, std::string(1, static_cast<char>(Request::count)), true);
    const std::string probe = "a key of its own";
    const std::size_t needed = used + kEntry + probe.size();
    if (number_ != entries || needed > kTableSize) return;  // damaged requests had other keys
    for (const std::size_t more : {1U, 0U}) {
      FrameWriter entry;
      entry.text(probe);
      entry.text(std::string(kTableSize - needed + more, 'v'));
      ask(0, static_cast<char>(Request::set) + entry.bytes(), true);
      require((last_answer_ == Answer::refused) == (more > 0),
              "an entry is accepted if and only if it fits");
    }
  }

  bool has_all(const std::vector<std::string>& keys) {
    FrameWriter body;
    body.texts(keys);
    ask(0, static_cast<char>(Request::check) + body.bytes(), true);
    return number_ == 1;
  }

  void pass(milliseconds time) {
    now_ += time;
    service_.expire(now_);
    take_answers();
    for (const auto& [id, asked] : waiting_) require(asked.end > now_, "no request waits too long");
  }

  // Like a server, which has taken all answers by then.
  void leave(Service::Peer peer) {
    service_.forget(peer);
    require(service_.take_replies().empty(), "a leaving peer changes nothing");
    for (auto one = waiting_.begin(); one != waiting_.end();)
      one = one->second.peer == peer ? waiting_.erase(one) : std::next(one);
    require_deadline();
  }

  void take_answers() {
    std::vector<std::vector<std::string>> came;
    for (const Service::Reply& reply : service_.take_replies()) {
      FrameReader frame(reply.frame);
      std::uint32_t size = 0;
      std::uint32_t id = 0;
      std::uint8_t kind = 0;
      require(frame.u32(size) && frame.u32(id) && frame.u8(kind) && size == reply.frame.size() - 4,
              "an answer has a header");
      const auto found = waiting_.find(id);
      require(found != waiting_.end() && found->second.peer == reply.peer,
              "exactly one answer to a request of this peer");
      const auto answer = static_cast<Answer>(kind);
      require_answer(found->second, answer, frame);
      const bool has_come = answer == Answer::done || answer == Answer::values;
      if (has_come && !found->second.keys.empty()) came.push_back(found->second.keys);
      waiting_.erase(found);
    }
    require_deadline();
    for (const auto& keys : came)
      require(has_erased_ || has_all(keys), "an answered wait has all keys");
  }

  void require_answer(const Asked& asked, Answer kind, FrameReader& body) {
    require((fits(asked.kind, kind) && asked.is_right != false) ||
                (kind == Answer::refused && asked.is_right != true),
            "an answer of the expected kind");
    last_answer_ = kind;
    std::vector<std::string> texts;
    std::string reason;
    if (kind == Answer::number) require(body.i64(number_), "a number");
    if (kind == Answer::values || kind == Answer::late) require(body.texts(texts), "texts");
    if (kind == Answer::refused) require(body.text(reason) && !reason.empty(), "a reason");
    require(body.at_end(), "nothing after an answer");
    if (kind == Answer::late) {
      require(asked.end <= now_, "nobody is late too early");
      require(!texts.empty() && texts.size() <= 64, "at least one missing key is named");
      for (const std::string& key : texts)
        require(std::count(asked.keys.begin(), asked.keys.end(), key) > 0,
                "missing keys are among the requested ones");
    } else if (kind == Answer::values) {
      require(texts.size() == (asked.kind == Request::get ? asked.keys.size() : 1), "all values");
      for (const std::string& text : texts) bytes_ += text.size();
    }
  }

  void require_deadline() const {
    std::optional<Clock::time_point> first;
    for (const auto& [id, asked] : waiting_) first = std::min(asked.end, first.value_or(asked.end));
    require(service_.next_deadline() == first, "the next deadline is that of the earliest wait");
  }

  Service service_{kTableSize};
  Clock::time_point now_{};
  std::uint32_t last_id_ = 0;
  std::map<std::uint32_t, Asked> waiting_;
  bool has_erased_ = false;  // a key that arrived may have been erased before it is checked
  Answer last_answer_ = Answer::done;
  // From the last answer with a number, and from all answers with values.
  std::int64_t number_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

// Valid and invalid requests of several peers while time passes: each is answered exactly once and
// in time, possibly by a refusal.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kMostSteps = 200;  // each checks all waits
  Input input(hpcboot::fuzz::text_of(data, size));
  Peers peers;
  for (int i = 0; i < kMostSteps && !input.at_end(); ++i) peers.step(input);
  peers.end();
  return 0;
}
