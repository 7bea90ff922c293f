#include <algorithm>
#include <cerrno>

#include "coordinator.hpp"
#include "jobs/run/ranks/graces.hpp"

// The readers of a run's output once all ranks have ended.
namespace hpcboot::run {
namespace {

// A reader that takes nothing for this long after a run without failures is no longer waited for.
constexpr std::chrono::seconds kPatience = kMostGraceToStop;
// What went wrong is said last, unless readers hold it up for longer than this.
constexpr std::chrono::seconds kUntilNamed{2};

}  // namespace

bool Coordinator::have_ranks_ended() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const AgentLink& link) { return link.fd() < 0 || link.running().empty(); });
}

void Coordinator::look_for_readers() {
  if (!have_ranks_ended()) return;
  const auto now = Clock::now();
  if (!ranks_ended_at_) ranks_ended_at_ = now;
  if (now >= *ranks_ended_at_ + kUntilNamed) say_failure();
  const bool has_gone_well = !is_stopping_ && !first_failure_ && !first_loss_ && out_error_ == 0;
  const auto patience =
      has_gone_well ? kPatience : std::chrono::ceil<std::chrono::seconds>(run_.grace);
  const bool is_taken = console_.is_written() || console_.written() != written_;
  written_ = console_.written();
  if (is_taken || patience != reader_patience_) {
    if (patience != reader_patience_) readers_ = SilenceWatch(patience);
    reader_patience_ = patience;
    readers_.note_sign(now);
  }
  if (!readers_.is_over(now)) return;
  console_.drop_waiting();
  console_.say([&](Terminal& to) {
    to << "hpcboot run: standard output was not read for " << patience.count()
       << " s: the rest of it is dropped\n";
  });
  if (out_error_ == 0 && end_signal_ == 0) out_error_ = ETIMEDOUT;
}

}  // namespace hpcboot::run
