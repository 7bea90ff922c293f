#pragma once

#include <string_view>

#include "hpcboot/allocation.hpp"

namespace hpcboot {

/// A hostfile for mpirun, in the format of Open MPI ("n1 slots=4 max_slots=8") or of MPICH and
/// Intel MPI ("n1:4"). A host without a number has one slot; the slots of a host on several lines
/// are added up, so that a PBS nodefile is also a valid hostfile. `#` starts a comment; empty lines
/// are skipped. Hosts may be names or addresses; an IPv6 address with a number is written
/// "[fd00::1]:4". A host may have a user: "bob@n1", "n1 username=bob" (Open MPI) or "n1 user=bob"
/// (MPICH). max_slots is checked against slots and then discarded. Settings that neither launcher
/// knows are errors.
/// @param name the file name, for the message.
/// @throws Error{malformed_file} naming the line; also for Open MPI's relative ("+n0") and
/// excluding ("^n1") entries, which have no meaning without the allocation they refer to.
Nodefile parse_hostfile(std::string_view text, std::string_view name);

}  // namespace hpcboot
