#pragma once

#include <chrono>

#include "control.hpp"
#include "regular_looks.hpp"

namespace hpcboot::run {

// Notices a launcher that does not end after its ranks. Observed with srun of Slurm 22.05: in one
// of about a hundred heterogeneous steps with PMIx it waits forever for a thread of its plug-in.
class LoneLauncher {
 public:
  LoneLauncher(const Control& control, int world_size, std::chrono::seconds patience)
      : control_(control), world_size_(world_size), patience_(patience) {}

  // To be called often. @return true once all ranks have ended for that long; time during which
  // this process was stopped, or standard output or error could not be written, does not count
  bool is_overdue(Clock::time_point now);
  // As far as is known.
  bool have_ranks_ended() const { return have_ended_; }

 private:
  const Control& control_;
  const int world_size_;
  const std::chrono::seconds patience_;
  RegularLooks looks_;
  Clock::time_point end_{};
  bool have_ended_ = false;
};

}  // namespace hpcboot::run
