#pragma once

#include <string_view>

#include "hpcboot/allocation.hpp"

namespace hpcboot {

/// A hostfile of mpirun in either form: Open MPI's ("n1 slots=4 max_slots=8") or MPICH's and Intel
/// MPI's ("n1:4"). A host without a number counts one slot; a host that stands in several lines has
/// their sum, so that a PBS nodefile is a hostfile, too. `#` begins a comment, empty lines are
/// skipped. Addresses may stand for names; an IPv6 address with a number is written "[fd00::1]:4".
/// max_slots is checked against slots and not kept.
/// @param name of the file, for the message.
/// @throws Error{malformed_file} naming the line; also for Open MPI's relative ("+n0") and
/// excluding
///         ("^n1") entries, which say nothing without the allocation they refer to.
Nodefile parse_hostfile(std::string_view text, std::string_view name);

}  // namespace hpcboot
