#include "wait_for_all.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Rank 0 decides, all other ranks wait for its verdict: empty, or which ranks are missing. Keys
// that may not exist are queried with check() only: it answers at once; get() and wait() block.
constexpr char kVerdict[] = "hpcboot/verdict";
constexpr char kInformed[] = "hpcboot/informed";

// How long rank 0, which may serve the store, waits for the others to read a negative verdict.
constexpr milliseconds kLinger = std::chrono::seconds(3);
// How much longer than rank 0 the others wait: its verdict names the same ranks on all of them.
constexpr milliseconds kGrace = std::chrono::seconds(2);

std::string key_of_presence(int rank) {
  return "hpcboot/here/" + std::to_string(rank);
}

std::vector<std::uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

/// Polls at increasing intervals, since thousands of ranks may poll one store: together at most
/// some ten thousand times a second.
/// @return false if the time is up
template <typename Question>
bool poll_until(Clock::time_point end, int askers, Question question) {
  const milliseconds longest(50 + askers / 10);
  for (milliseconds pause(1);; pause = std::min(2 * pause, longest)) {
    if (question()) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
}

/// The ranks that have not written their name.
struct Absent {
  int count = 0;
  std::string text;  // "ranks 1, 3 of 4 did not arrive within 5000 ms; no rank arrived from n2"
};

/// "; no rank arrived from n[2-3]". Empty if a rank arrived from a host that is not in the list:
/// the list then uses other names for the hosts.
std::string silent_hosts(std::vector<std::string> hosts, const std::vector<std::string>& heard) {
  for (const std::string& host : heard) {
    const auto is_it = [&](const std::string& one) { return same_host(one, host); };
    if (std::none_of(hosts.begin(), hosts.end(), is_it)) return {};
  }
  hosts.erase(std::remove_if(hosts.begin(), hosts.end(),
                             [&](const std::string& host) {
                               return std::any_of(heard.begin(), heard.end(), [&](const auto& one) {
                                 return same_host(one, host);
                               });
                             }),
              hosts.end());
  return hosts.empty() ? "" : "; no rank arrived from " + hostlist::compress(hosts);
}

/// @param hosts of the launch, as far as known
Absent look_for_absent(c10d::Store& store, int world_size, const std::vector<std::string>& hosts,
                       milliseconds deadline) {
  Absent absent;
  std::vector<int> ranks;
  std::vector<std::string> heard;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!store.check({key_of_presence(rank)})) {
      ranks.push_back(rank);
      continue;
    }
    const std::vector<std::uint8_t> name = store.get(key_of_presence(rank));
    std::string host(name.begin(), std::find(name.begin(), name.end(), ' '));
    if (std::find(heard.begin(), heard.end(), host) == heard.end()) heard.push_back(host);
  }
  if (ranks.empty()) return absent;
  absent.count = static_cast<int>(ranks.size());
  absent.text = names_of(ranks) + " of " + std::to_string(world_size) + " did not arrive within " +
                std::to_string(deadline.count()) + " ms" + silent_hosts(hosts, heard);
  return absent;
}

[[noreturn]] void throw_missing(const std::string& found) {
  throw Error(ErrorCode::deadline_exceeded, found, "every rank to reach the process group",
              "check that rank's output and host; if it is only slow, allow more time for "
              "start-up");
}

void call_the_roll(c10d::Store& store, int world_size, const std::vector<std::string>& hosts,
                   milliseconds deadline) {
  std::vector<std::string> all;
  for (int rank = 0; rank < world_size; ++rank) all.push_back(key_of_presence(rank));
  Absent absent;
  if (!poll_until(Clock::now() + deadline, world_size, [&] { return store.check(all); }))
    absent = look_for_absent(store, world_size, hosts, deadline);
  store.set(kVerdict, bytes(absent.text));
  if (absent.count == 0) return;
  const std::int64_t others = world_size - 1 - absent.count;
  poll_until(Clock::now() + kLinger, 1, [&] { return store.add(kInformed, 0) >= others; });
  throw_missing(absent.text);
}

void await_verdict(c10d::Store& store, int world_size, milliseconds deadline) {
  const bool is_decided = poll_until(Clock::now() + deadline + kGrace, world_size,
                                     [&] { return store.check({kVerdict}); });
  if (!is_decided) {
    throw_missing("rank 0 did not report within " + std::to_string(deadline.count()) +
                  " ms whether all ranks have arrived");
  }
  const std::vector<std::uint8_t> verdict = store.get(kVerdict);
  if (verdict.empty()) return;
  store.add(kInformed, 1);
  throw_missing({verdict.begin(), verdict.end()});
}

}  // namespace

void wait_for_all(c10d::Store& store, int rank, int world_size, const std::string& me,
                  const std::vector<std::string>& hosts, milliseconds deadline) {
  try {
    store.set(key_of_presence(rank), bytes(me));
    if (rank == 0) {
      call_the_roll(store, world_size, hosts, deadline);
    } else {
      await_verdict(store, world_size, deadline);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    throw Error(ErrorCode::peer_lost,
                "the ranks' store was lost during start-up (" + first_line(cause.what()) + ")",
                "the store to be served until every rank has started",
                "look for the first error in the output of rank 0");
  }
}

}  // namespace hpcboot
