#include "silence_of_ranks.hpp"

#include <algorithm>

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

// How late silence may be detected. Longer than any parent needs to answer.
seconds interval(seconds limit) {
  return std::clamp(limit / 8, seconds(2), seconds(15));
}

}  // namespace

SilenceOfRanks::SilenceOfRanks(Control& control, std::optional<seconds> limit)
    : control_(control), limit_(limit), watch_(limit), asked_at_(Clock::now()) {}

bool SilenceOfRanks::look(Clock::time_point now, Terminal& err) {
  if (!limit_ || is_told_) return false;
  if (!stacks_until_) {
    if (!is_silent(now)) return false;
    stacks_until_ = now + kTimeForStacks;
    err << "hpcboot run: " << silence_text(*limit_)
        << ": printing the stacks of all ranks, then ending the run\n";
    control_.send(kStacksOrder);
  }
  is_told_ = now >= *stacks_until_ || control_.are_stacks_written();
  return is_told_;
}

bool SilenceOfRanks::is_silent(Clock::time_point now) {
  const bool is_over = watch_.is_over(now);
  if (control_.has_new_signs()) {
    watch_.note_sign(now);
    is_last_question_ = false;
  }
  if (now < asked_at_ + interval(*limit_)) return false;
  if (is_last_question_ && is_over) return true;
  is_last_question_ = is_over;
  control_.ask_for_signs();
  asked_at_ = now;
  return false;
}

void SilenceOfRanks::throw_if_come() const {
  if (has_come()) throw silence_error(*limit_);
}

}  // namespace hpcboot::run
