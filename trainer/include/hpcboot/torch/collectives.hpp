#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Sums the tensor over all ranks, in place. Shape and type must be the same on every rank.
/// @throws Error{peer_lost, deadline_exceeded}
void all_reduce_sum(ProcessGroup& group, at::Tensor tensor);

/// Copies rank `root`'s tensor to every other rank, in place.
/// @throws Error{peer_lost, deadline_exceeded}
void broadcast(ProcessGroup& group, at::Tensor tensor, int root = 0);

/// Returns rank `root`'s text on every rank. The argument of the other ranks is ignored.
/// @throws Error{peer_lost, deadline_exceeded}
std::string broadcast_text(ProcessGroup& group, std::string_view text, int root = 0);

/// Returns the texts of all ranks, indexed by rank, on every rank.
/// @throws Error{peer_lost, deadline_exceeded}
std::vector<std::string> all_gather_text(ProcessGroup& group, std::string_view text);

}  // namespace hpcboot
