#include "barrier.hpp"

#include <exception>
#include <string>
#include <vector>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

std::string key_of_barrier(int rank) {
  return "barrier/" + std::to_string(rank);
}

std::vector<std::uint8_t> bytes_of(std::int64_t count) {
  const std::string text = std::to_string(count);
  return {text.begin(), text.end()};
}

/// How many barriers the rank has reached.
std::int64_t count_of(c10d::Store& store, int rank) {
  if (!store.check({key_of_barrier(rank)})) return 0;
  const std::vector<std::uint8_t> value = store.get(key_of_barrier(rank));
  return std::stoll(std::string(value.begin(), value.end()));
}

/// "rank 3", "ranks 1, 3 and 9 more"; empty if all have come, or the store does not answer.
/// @param global_ranks the numbers to show
std::string late_ranks(c10d::Store& store, const std::vector<int>& global_ranks,
                       std::int64_t count) {
  std::vector<int> late;
  try {
    for (std::size_t rank = 0; rank < global_ranks.size(); ++rank) {
      if (count_of(store, static_cast<int>(rank)) < count) late.push_back(global_ranks[rank]);
    }
  } catch (const std::exception&) {
    return {};
  }
  return late.empty() ? "" : names_of(late);
}

}  // namespace

void named_barrier(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                   std::int64_t count, const std::vector<int>& global_ranks,
                   std::chrono::milliseconds deadline) {
  // c10d takes 0 for no limit.
  const auto limit = cut_deadline(deadline, std::chrono::milliseconds(1));
  try {
    with_peers("a barrier", [&] {
      if (store) store->set(key_of_barrier(group.getRank()), bytes_of(count));
      group.barrier()->wait(limit);
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::deadline_exceeded || !store) throw;
    const std::string late = late_ranks(*store, global_ranks, count);
    if (late.empty()) throw;
    throw Error(ErrorCode::deadline_exceeded,
                late + " of the launch did not reach a barrier of " +
                    std::to_string(group.getSize()) + " ranks within " +
                    std::to_string(deadline.count()) + " ms",
                "every rank to call barrier() in time",
                "look at what that rank does: it may hang, run something else, or be slow");
  }
}

}  // namespace hpcboot
