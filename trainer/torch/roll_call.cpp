#include "roll_call.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Rank 0 decides, everybody else waits for its verdict. Only check() is asked for keys that may not
// be there: it answers at once, where get() and wait() would block.
constexpr char kGo[] = "hpcboot/go";
constexpr char kMissing[] = "hpcboot/missing";
constexpr char kInformed[] = "hpcboot/informed";

// How long rank 0, which may be serving the store, stays for the others to read a bad verdict.
constexpr milliseconds kLinger = std::chrono::seconds(3);
// How much longer than rank 0 the others wait: its verdict names the same ranks for everybody.
constexpr milliseconds kGrace = std::chrono::seconds(2);

std::string key_of(int rank) {
  return "hpcboot/here/" + std::to_string(rank);
}

std::vector<std::uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

/// Asks again and again, ever more slowly, since thousands may be asking one store.
/// @return false when the time is up
template <typename Question>
bool poll_until(Clock::time_point end, Question question) {
  for (milliseconds pause(1);; pause = std::min(2 * pause, milliseconds(50))) {
    if (question()) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
}

/// Those that have not written their name.
struct Absent {
  int count = 0;
  std::string text;  // "ranks 1, 3 of 4 did not come within 5000 ms; no rank came from n2"
};

// Of thousands that are missing, a few say enough.
constexpr int kNamed = 16;

/// @param hosts of the launch, as far as they are known
Absent look_for_absent(c10d::Store& store, int world_size, std::vector<std::string> hosts,
                       milliseconds deadline) {
  Absent absent;
  std::string ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!store.check({key_of(rank)})) {
      if (++absent.count <= kNamed) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
      continue;
    }
    const std::vector<std::uint8_t> name = store.get(key_of(rank));
    const std::string host(name.begin(), std::find(name.begin(), name.end(), ' '));
    hosts.erase(std::remove_if(hosts.begin(), hosts.end(),
                               [&](const std::string& one) { return same_host(one, host); }),
                hosts.end());
  }
  if (absent.count == 0) return absent;
  if (absent.count > kNamed) ranks += " and " + std::to_string(absent.count - kNamed) + " more";
  absent.text = (absent.count == 1 ? "rank " : "ranks ") + ranks + " of " +
                std::to_string(world_size) + " did not come within " +
                std::to_string(deadline.count()) + " ms";
  if (!hosts.empty()) absent.text += "; no rank came from " + hostlist::compress(hosts);
  return absent;
}

[[noreturn]] void throw_missing(const std::string& found) {
  throw Error(ErrorCode::deadline_exceeded, found, "every rank to reach the process group",
              "look at that rank's output and host; if it is only slow, allow more time for "
              "start-up");
}

void call_the_roll(c10d::Store& store, int world_size, const std::vector<std::string>& hosts,
                   milliseconds deadline) {
  const Clock::time_point end = Clock::now() + deadline;
  for (int rank = 0; rank < world_size; ++rank) {
    if (poll_until(end, [&] { return store.check({key_of(rank)}); })) continue;
    const Absent absent = look_for_absent(store, world_size, hosts, deadline);
    if (absent.count == 0) break;  // the last one came at the last moment
    store.set(kMissing, bytes(absent.text));
    const std::int64_t others = world_size - 1 - absent.count;
    poll_until(Clock::now() + kLinger, [&] { return store.add(kInformed, 0) >= others; });
    throw_missing(absent.text);
  }
  store.set(kGo, bytes("1"));
}

void await_verdict(c10d::Store& store, int world_size, const std::vector<std::string>& hosts,
                   milliseconds deadline) {
  std::string missing;
  const bool decided = poll_until(Clock::now() + deadline + kGrace, [&] {
    if (store.check({kGo})) return true;
    if (!store.check({kMissing})) return false;
    const std::vector<std::uint8_t> text = store.get(kMissing);
    missing.assign(text.begin(), text.end());
    store.add(kInformed, 1);
    return true;
  });
  if (!decided) {
    missing = look_for_absent(store, world_size, hosts, deadline).text;
    if (missing.empty())
      missing = "rank 0 did not say within " + std::to_string(deadline.count()) +
                " ms that all ranks are there";
  }
  if (!missing.empty()) throw_missing(missing);
}

}  // namespace

void roll_call(c10d::Store& store, int rank, int world_size, const std::string& me,
               const std::vector<std::string>& hosts, milliseconds deadline) {
  try {
    store.set(key_of(rank), bytes(me));
    if (rank == 0) {
      call_the_roll(store, world_size, hosts, deadline);
    } else {
      await_verdict(store, world_size, hosts, deadline);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string text = cause.what();
    throw Error(ErrorCode::peer_lost,
                "the store of the ranks went away during start-up (" +
                    text.substr(0, text.find('\n')) + ")",
                "the store to be served until every rank has started",
                "look for the first error in the output of rank 0");
  }
}

}  // namespace hpcboot
