#include "first_account.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/bounded_call.hpp"
#include "core/time_left.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kAccount[] = "hpcboot/account";
constexpr milliseconds kPause(10);
// A launcher may kill the remaining ranks some milliseconds after the first one ends: publishing
// the text to them must not take longer.
constexpr milliseconds kTellLimit(200);

/// What the thread that polls the store has received. The thread is abandoned if the store does not
/// answer.
class Heard {
 public:
  void put(const std::vector<std::uint8_t>& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    text_.assign(text.begin(), text.end());
  }

  std::string text() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

void listen(c10d::Store& store, Heard& heard, Clock::time_point end) {
  try {
    while (!store.check({kAccount})) {
      if (Clock::now() >= end) return;
      std::this_thread::sleep_for(kPause);
    }
    heard.put(store.get(kAccount));
  } catch (const std::exception&) {
    // Rank 0, which serves the store, is gone: no text will arrive.
  }
}

void tell(const c10::intrusive_ptr<c10d::Store>& store, const std::string& text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  // The first account is kept: later ones concern ranks that left because of the first.
  bounded_call(
      [=] {
        if (!store->check({kAccount})) store->set(kAccount, bytes);
      },
      kTellLimit);
}

}  // namespace

std::string first_account(const c10::intrusive_ptr<c10d::Store>& store,
                          const std::function<std::string()>& look, milliseconds wait) noexcept {
  std::string seen;
  try {
    const auto end = end_after(wait);
    const auto heard = std::make_shared<Heard>();
    std::thread([=] { listen(*store, *heard, end); }).detach();
    for (milliseconds pause(1);; pause = std::min(2 * pause, kPause)) {
      seen = look();
      if (!seen.empty()) break;
      std::string told = heard->text();
      if (!told.empty() || Clock::now() >= end) return told;
      std::this_thread::sleep_for(pause);
    }
    tell(store, seen);
  } catch (...) {
    // The store is gone; what this rank has seen remains valid.
  }
  return seen;
}

}  // namespace hpcboot
