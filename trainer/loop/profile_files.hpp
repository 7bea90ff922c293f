#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hpcboot/encode.hpp"
#include "loop/communicator.hpp"
#include "profile/trace_event.hpp"
#include "profile/trace_events.hpp"

namespace hpcboot::train {

/// How many bytes of traces may still be written, over all cycles.
struct TraceBudget {
  std::int64_t own = 0;     ///< of this rank
  std::int64_t merged = 0;  ///< this rank's share of the merged ones
};

/// Where a cycle of the profiler goes.
struct ProfileFiles {
  std::filesystem::path folder;
  std::int64_t cycle = 1;
};

/// What write_profile() has done.
struct WrittenProfile {
  Encoded tables;        ///< on rank 0, how the time was spent; empty on the others
  bool is_full = false;  ///< a rank's budget is used up; the same on every rank
};

/// Creates the folder, and returns the number of the first cycle that is not in it: a resumed run
/// keeps the profiles of its earlier starts. Collective.
/// @throws Error{unwritable_output}, also if the name belongs to anything but a folder; Error{
///         peer_lost, deadline_exceeded}
std::int64_t first_free_cycle(const std::filesystem::path& folder, Communicator& communicator);

/// Writes what every rank has recorded, and joins it on rank 0, to which ranks on a file system of
/// their own have to send their events anyway. Collective.
/// @param recording sorted
/// @param budget is reduced by what is written
/// @throws Error{unwritable_output, peer_lost, deadline_exceeded}
WrittenProfile write_profile(const ProfileFiles& files, const profile::TraceOrigin& origin,
                             const profile::Recording& recording, Communicator& communicator,
                             TraceBudget& budget);

}  // namespace hpcboot::train
