#pragma once

#include <chrono>

#include "hpcboot/env.hpp"

namespace hpcboot {

// One use of PMIx by a process of this rank. A launch may have several, one after the other
// (`mpirun sh -c 'hpcboot check && hpcboot exec …'`), but servers of OpenPMIx 4 and 5 keep what
// they had from other hosts, and confuse a process that leaves with the next one of its rank. So
// each use has its own keys, and begins when the earlier ones of this host have ended. Uses are
// counted in the launcher's folder for the job (PMIX_SERVER_TMPDIR), which it removes with the job.
class PmixUse {
 public:
  // Waits for earlier uses until the deadline, at most five seconds.
  PmixUse(const Env& env, std::chrono::milliseconds deadline);
  ~PmixUse();
  PmixUse(const PmixUse&) = delete;
  PmixUse& operator=(const PmixUse&) = delete;

  // Counts from 1, and is the same on all ranks, which use PMIx equally often. 1 without a folder
  // that belongs to this user alone.
  int number() const { return number_; }

 private:
  int number_ = 1;
  int lock_ = -1;  // on the file of this use, while it lasts
};

}  // namespace hpcboot
