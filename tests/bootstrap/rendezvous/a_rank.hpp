#pragma once

#include <unistd.h>

#include <string>

#include "hpcboot/resolve.hpp"

namespace hpcboot::rendezvous {

// Ranks on several hosts, as far as they know; all of them are this host.
inline Resolution a_rank(int rank, int world_size) {
  Resolution r;
  r.placement = {rank, world_size, 0, 1, rank, world_size};
  r.launcher = "slurm";
  r.launch_id = "0";
  r.job_instance = "meeting-test/" + std::to_string(getpid());
  r.master_addr = "127.0.0.1";
  r.master_port = 29500;
  return r;
}

}  // namespace hpcboot::rendezvous
