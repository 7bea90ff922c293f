#pragma once

#include <chrono>
#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

// The ranks of one host that leave a PMIx server and come back as another program. OpenPMIx up to
// 2026 takes a rank that leaves while a fence of its host's ranks is open for lost, and completes
// the fence without it (openpmix#3931, #4113): where the program of a fast rank is in MPI_Init
// already, that of a slow one then waits there for ever, or misses its data. So nobody goes on
// before all of the host have left.
class LeaveTogether {
 public:
  // To be made before a fence of all ranks: behind it, the ranks of this host wait for each other.
  // Where the host has no shared memory to write to, nobody waits.
  explicit LeaveTogether(const Env& env);
  ~LeaveTogether();
  LeaveTogether(const LeaveTogether&) = delete;
  LeaveTogether& operator=(const LeaveTogether&) = delete;

  // To be called when this rank has left: returns when all of this host have, or after `limit`.
  // @return have all?
  bool wait(std::chrono::milliseconds limit);

 private:
  std::string name_;
  int file_ = -1;
};

}  // namespace hpcboot::tool
