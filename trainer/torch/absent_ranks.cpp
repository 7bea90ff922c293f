#include "absent_ranks.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "core/bounded_call.hpp"
#include "core/time_left.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPause(50);
// How long the store may take to answer, beyond the wait for the ranks.
constexpr milliseconds kStoreLimit = std::chrono::seconds(2);

std::string key_of_failure(int rank) {
  return "hpcboot/failed/" + std::to_string(rank);
}

std::vector<int> without_a_word(c10d::Store& store, int world_size) {
  std::vector<int> absent;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!store.check({key_of_failure(rank)})) absent.push_back(rank);
  }
  return absent;
}

}  // namespace

std::vector<int> absent_ranks(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                              int world_size, milliseconds wait) noexcept {
  try {
    // Shared with the call, which is abandoned if a stopped rank 0 does not let the store answer.
    const auto absent = std::make_shared<std::vector<int>>();
    const auto ask = [=] {
      store->set(key_of_failure(rank), std::vector<std::uint8_t>{1});
      const auto end = end_after(wait);
      *absent = without_a_word(*store, world_size);
      while (!absent->empty() && Clock::now() < end) {
        std::this_thread::sleep_for(kPause);
        try {
          *absent = without_a_word(*store, world_size);
        } catch (const std::exception&) {
          return;  // rank 0 ended at its own deadline, and its store with it: keep what is known
        }
      }
    };
    if (bounded_call(ask, cut_deadline(wait) + kStoreLimit)) return *absent;
  } catch (...) {
    // Same as a store that does not answer: the rank that serves it is gone.
  }
  return rank == 0 ? std::vector<int>{} : std::vector<int>{0};
}

}  // namespace hpcboot
