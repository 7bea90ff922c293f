#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hpcboot/encode.hpp"
#include "loop/communicator.hpp"
#include "profile/trace_event.hpp"
#include "profile/trace_file.hpp"

namespace hpcboot::train {

/// Where a cycle of the profiler goes.
struct ProfileFiles {
  std::filesystem::path folder;
  std::int64_t cycle = 1;
  std::int64_t most_bytes = 0;  ///< of a trace
};

/// Writes what every rank has recorded, and merges it on rank 0, to which ranks on a file system of
/// their own send their traces. Collective.
/// @param recording sorted
/// @param trace_bytes is set to the size of this rank's trace
/// @return on rank 0, how the time was spent, as tables; empty on the others
/// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
Encoded write_profile(const ProfileFiles& files, const profile::TraceOrigin& origin,
                      const profile::Recording& recording, Communicator& communicator,
                      std::int64_t& trace_bytes);

}  // namespace hpcboot::train
