#include "walltime_clock.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/start_thread.hpp"
#include "jobs/run/ranks/graces.hpp"

namespace hpcboot::run {
namespace {

// An end that is later by more than this was changed on purpose; schedulers round by less.
constexpr std::chrono::seconds kRounding{2};
// Limits waits on the system clock, which may be changed.
constexpr std::chrono::seconds kLongestWait{60};
// Before a scheduler that did not answer is asked again; each further pause is twice as long, but
// not longer than kLongestWait.
constexpr std::chrono::seconds kFirstPause{1};

}  // namespace

WalltimeClock::WalltimeClock(std::optional<WallTime> end, std::chrono::seconds before, Ask ask)
    : before_(before), ask_(std::move(ask)), end_(end) {
  thread_ = thread_without_signals([this] { watch(); });
}

WalltimeClock::~WalltimeClock() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool WalltimeClock::is_due() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_due_;
}

std::chrono::seconds WalltimeClock::left() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!end_) return std::chrono::seconds::max();
  const auto left = std::chrono::ceil<std::chrono::seconds>(*end_ - WallTime::clock::now());
  return std::max(left, std::chrono::seconds(0));
}

std::chrono::seconds grace_to_stop(const WalltimeClock* clock) {
  if (clock == nullptr || !clock->is_due()) return kGraceOfRun;
  return std::clamp(clock->left() / 2, kGraceToEnd, kMostGraceToStop);
}

void say_warning(Terminal& err, const WalltimeClock& clock) {
  err << "hpcboot run: the walltime ends in " << clock.left().count()
      << " s: sending SIGUSR1 to every rank\n";
}

void WalltimeClock::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!end_) learn_end(lock);
  while (!is_over_ && end_) {
    const WallTime warning = *end_ - before_;
    const WallTime now = WallTime::clock::now();
    if (now < warning) {
      changed_.wait_for(lock, std::min<WallTime::duration>(warning - now, kLongestWait));
      continue;
    }
    const WallTime known = *end_;
    std::optional<WallTime> end = known;
    lock.unlock();
    try {
      end = ask_();
    } catch (const std::exception&) {
      end = known;  // the scheduler may be busy
    }
    lock.lock();
    end_ = end;
    if (end && *end <= known + kRounding) {
      is_due_ = true;
      bell_.ring();
      return;
    }
  }
}

void WalltimeClock::learn_end(std::unique_lock<std::mutex>& lock) {
  std::optional<WallTime> end;
  bool is_known = false;
  for (auto pause = kFirstPause; !is_known; pause = std::min(2 * pause, kLongestWait)) {
    if (changed_.wait_for(lock, pause, [this] { return is_over_; })) return;
    lock.unlock();
    try {
      end = ask_();
      is_known = true;
    } catch (const std::exception&) {
      // The scheduler may still be busy.
    }
    lock.lock();
  }
  end_ = end;
}

}  // namespace hpcboot::run
