#pragma once

#include <chrono>

#include "control.hpp"
#include "regular_looks.hpp"

namespace hpcboot::run {

// Notices a launcher that starts no rank. Once a rank is there, its parent waits for the others;
// before that, a srun whose job has no free CPU for its step would wait forever.
class FirstRank {
 public:
  FirstRank(const Control& control, std::chrono::seconds patience)
      : control_(control), patience_(patience) {}

  // To be called often. @return true once no rank has started for that long; time during which this
  // process was stopped does not count
  bool is_overdue(Clock::time_point now);

 private:
  const Control& control_;
  const std::chrono::seconds patience_;
  RegularLooks looks_;
  Clock::time_point end_{};
  bool has_come_ = false;
};

}  // namespace hpcboot::run
