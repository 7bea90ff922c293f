#include "first_rank.hpp"

namespace hpcboot::run {

bool FirstRank::is_overdue(Clock::time_point now) {
  if (has_come_ || !looks_.is_due(now)) return false;
  has_come_ = control_.has_ranks();
  if (looks_.was_stopped()) end_ = now + patience_;  // so was the first look
  return !has_come_ && now >= end_;
}

}  // namespace hpcboot::run
