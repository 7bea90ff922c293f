#include "client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// Thousands of ranks that start together must not retry together.
milliseconds with_jitter(milliseconds pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  return pause / 2 + milliseconds(std::uniform_int_distribution<int>(
                         0, static_cast<int>(pause.count()))(random));
}

// On one host the places are names of sockets, which tell users nothing: only the reasons count.
std::string joined_here(const std::vector<std::string>& reasons) {
  const std::string nobody_there = std::strerror(ECONNREFUSED);
  std::set<std::string> seen;
  std::string text;
  for (const std::string& reason : reasons) {
    if (reason == nobody_there || !seen.insert(reason).second) continue;
    text += (text.empty() ? "on this host, " : "; ") + reason;
  }
  return text.empty() ? "nothing listens for this launch on this host" : text;
}

std::string shown(milliseconds time) {
  if (time < std::chrono::seconds(1)) return std::to_string(time.count()) + " ms";
  return std::to_string((time.count() + 500) / 1000) + " s";
}

// "n1:20717, 25001, 31002: Connection refused; n1:28000: another user listens there"
std::string joined(const std::vector<Place>& places, const std::vector<std::string>& reasons) {
  constexpr std::size_t kMost = 600;  // with a thousand hosts to try
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
    std::map<std::string, std::string>
        silent;  // address -> reason: its other ports would fail alike
    for (std::size_t i = 0; i < places.size(); ++i) {
      // The result of an attempt without any time left is meaningless.
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
      // "Nobody there" is less informative than an earlier answer from the same place.
      const bool is_unreachable = attempt.outcome == Link::Outcome::unreachable;
      const bool tells = !is_unreachable && attempt.outcome != Link::Outcome::nobody_there &&
                         attempt.outcome != Link::Outcome::no_answer;
      if (tells || !is_telling[i]) reasons[i] = attempt.reason;
      is_telling[i] = is_telling[i] || tells;
      if (is_unreachable) silent[places[i].address] = attempt.reason;
    }
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(std::min(with_jitter(pause), time_left(end, milliseconds(0))));
    pause = std::min(2 * pause, milliseconds(200));
  }
  const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  const std::string found = "rank " + std::to_string(member.rank) + " on " + own_hostname() +
                            " did not find rank 0 within " + shown(waited) + ": ";
  if (std::all_of(places.begin(), places.end(), [](const Place& p) { return p.is_local(); })) {
    throw Error(ErrorCode::deadline_exceeded, found + joined_here(reasons),
                "rank 0 to serve the store of this launch on this host",
                "check the output of rank 0: has it started? If so, check that all ranks run in "
                "one container, or outside containers");
  }
  throw Error(ErrorCode::deadline_exceeded, found + joined(places, reasons),
              "rank 0 to serve the store of this launch there, with a secret that this rank has",
              "check the output of rank 0: has it started? If so, check for a firewall between the "
              "hosts; HPCBOOT_INTERFACE and HPCBOOT_MASTER_ADDR select another network");
}

Client::Client(Way way, Link first) : way_(std::move(way)) {
  idle_.push_back(std::move(first));
}

void Client::set_way_out(std::vector<Place> places, Member member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  way_out_ = Way{std::move(places), std::move(member)};
}

Place Client::place() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return way_.places.front();
}

bool Client::is_relayed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return way_out_.has_value();
}

SecretKind Client::secret_kind() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return way_.member.world.kind;
}

// @return false if there is none; true if this or another thread has taken it
bool Client::take_way_out(int tried) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tried != way_number_) return true;
  if (!way_out_) return false;
  way_ = std::move(*way_out_);
  way_out_.reset();
  ++way_number_;
  idle_.clear();
  return true;
}

bool Client::can_ask_again(Request kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Other links to the same place have failed, too.
  idle_.clear();
  const bool has_no_effect_twice = kind == Request::set || kind == Request::set_many ||
                                   kind == Request::get || kind == Request::wait ||
                                   kind == Request::check || kind == Request::count;
  return has_no_effect_twice && (way_out_ || way_number_ > 0);
}

void Client::fail_lost(const std::string& what) const {
  if (is_relayed()) {
    throw Error(
        ErrorCode::peer_lost,
        "the relay of this host (its local rank 0), which forwards requests to rank 0, " + what,
        "the relay to run until every rank has ended",
        "look for the first error in the output of local rank 0 of " + own_hostname());
  }
  const std::string where = place().is_local() ? "on this host" : "at " + place().text();
  throw Error(ErrorCode::peer_lost, "the store of rank 0 " + where + " " + what,
              "rank 0 to serve it until every rank has ended",
              "look for the first error in the output of rank 0");
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

// The store may be busy with unauthenticated peers or with other ranks, so retry unless nobody
// listens there.
Link Client::open_link(Deadline end) {
  for (milliseconds pause(2);; pause = std::min(2 * pause, milliseconds(200))) {
    const auto [way, number] = [this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return std::pair(way_, way_number_);
    }();
    bool is_anybody_there = false;
    std::vector<std::string> reasons;
    for (const Place& place : way.places) {
      Member member = way.member;  // a copy: other threads open links, too
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
      fail_lost("accepts no more connections (" + joined(way.places, reasons) + ")");
    std::this_thread::sleep_for(std::min(with_jitter(pause), time_left(end, milliseconds(0))));
  }
}

void Client::put_back(Link link) {
  constexpr std::size_t kKept = 2;  // each also uses a descriptor on rank 0
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kKept) idle_.push_back(std::move(link));
}

}  // namespace hpcboot::rendezvous
