#include "barrier.hpp"

#include <exception>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"

namespace hpcboot {
namespace {

std::string key_of(int rank) {
  return "barrier/" + std::to_string(rank);
}

std::vector<std::uint8_t> bytes_of(std::int64_t count) {
  const std::string text = std::to_string(count);
  return {text.begin(), text.end()};
}

/// How many barriers the rank has reached.
std::int64_t count_of(c10d::Store& store, int rank) {
  if (!store.check({key_of(rank)})) return 0;
  const std::vector<std::uint8_t> value = store.get(key_of(rank));
  return std::stoll(std::string(value.begin(), value.end()));
}

/// "rank 3", "ranks 1, 3 and 9 more"; empty if all have come, or the store does not answer.
std::string late_ranks(c10d::Store& store, int world_size, std::int64_t count) {
  constexpr int kNamed = 16;
  std::string ranks;
  int late = 0;
  try {
    for (int rank = 0; rank < world_size; ++rank) {
      if (count_of(store, rank) >= count) continue;
      if (++late <= kNamed) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    }
  } catch (const std::exception&) {
    return {};
  }
  if (late > kNamed) ranks += " and " + std::to_string(late - kNamed) + " more";
  return ranks.empty() ? "" : (late == 1 ? "rank " : "ranks ") + ranks;
}

}  // namespace

void named_barrier(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                   std::int64_t count, std::chrono::milliseconds deadline) {
  if (store) store->set(key_of(group.getRank()), bytes_of(count));
  try {
    with_peers("a barrier", [&] { group.barrier()->wait(deadline); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::deadline_exceeded || !store) throw;
    const std::string late = late_ranks(*store, group.getSize(), count);
    if (late.empty()) throw;
    throw Error(ErrorCode::deadline_exceeded,
                late + " of " + std::to_string(group.getSize()) +
                    " did not reach a barrier within " + std::to_string(deadline.count()) + " ms",
                "every rank to call barrier() in time",
                "look at what that rank does: it may hang, run something else, or be slow");
  }
}

}  // namespace hpcboot
