#include "roll_call.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "hpcboot/error.hpp"

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

/// "1, 3, 4": those that have not written their name.
std::string absent_ranks(c10d::Store& store, int world_size) {
  std::string absent;
  for (int rank = 0; rank < world_size; ++rank) {
    if (store.check({key_of(rank)})) continue;
    absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
  }
  return absent;
}

[[noreturn]] void throw_missing(const std::string& missing, int world_size, milliseconds deadline) {
  throw Error(
      ErrorCode::deadline_exceeded,
      (missing.find(',') == std::string::npos ? "rank " : "ranks ") + missing + " of " +
          std::to_string(world_size) + " did not come within " + std::to_string(deadline.count()) +
          " ms",
      "every rank to reach the process group",
      "look at that rank's output and host; where it is only slow, allow more time for start-up");
}

void call_the_roll(c10d::Store& store, int world_size, milliseconds deadline) {
  const Clock::time_point end = Clock::now() + deadline;
  for (int rank = 0; rank < world_size; ++rank) {
    if (poll_until(end, [&] { return store.check({key_of(rank)}); })) continue;
    const std::string missing = absent_ranks(store, world_size);
    if (missing.empty()) break;  // the last one came at the last moment
    store.set(kMissing, bytes(missing));
    const auto count = 1 + std::count(missing.begin(), missing.end(), ',');
    const std::int64_t others = world_size - 1 - count;
    poll_until(Clock::now() + kLinger, [&] { return store.add(kInformed, 0) >= others; });
    throw_missing(missing, world_size, deadline);
  }
  store.set(kGo, bytes("1"));
}

void await_verdict(c10d::Store& store, int world_size, milliseconds deadline) {
  std::optional<std::string> missing;
  const bool decided = poll_until(Clock::now() + deadline + kGrace, [&] {
    if (store.check({kGo})) return true;
    if (!store.check({kMissing})) return false;
    const std::vector<std::uint8_t> list = store.get(kMissing);
    missing.emplace(list.begin(), list.end());
    store.add(kInformed, 1);
    return true;
  });
  if (!decided) missing = absent_ranks(store, world_size);
  if (missing) throw_missing(*missing, world_size, deadline);
}

}  // namespace

void roll_call(c10d::Store& store, int rank, int world_size, const std::string& me,
               milliseconds deadline) {
  try {
    store.set(key_of(rank), bytes(me));
    if (rank == 0) {
      call_the_roll(store, world_size, deadline);
    } else {
      await_verdict(store, world_size, deadline);
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
