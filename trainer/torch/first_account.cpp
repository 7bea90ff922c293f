#include "first_account.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/bounded_call.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kAccount[] = "hpcboot/account";
constexpr milliseconds kPause(10);
// A launcher may kill the ranks that are left some milliseconds after the first: to tell the others
// is worth no more.
constexpr milliseconds kTellLimit(200);

/// What a thread that asks the store has heard. The thread is left behind where the store keeps
/// silent.
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
    // Rank 0, which serves the store, has gone: nobody will tell anything.
  }
}

void tell(const c10::intrusive_ptr<c10d::Store>& store, const std::string& text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  // The first account stays: later ones are of ranks that left because of the first.
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
    const auto end = Clock::now() + wait;
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
    // A store that is gone: what was seen is seen all the same.
  }
  return seen;
}

}  // namespace hpcboot
