#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Every rank's tensor becomes the sum over all ranks, in place. Same shape and type everywhere.
/// @throws Error{peer_lost, deadline_exceeded}
void all_reduce_sum(ProcessGroup& group, at::Tensor tensor);

/// Rank `root`'s tensor replaces every other rank's, in place.
/// @throws Error{peer_lost, deadline_exceeded}
void broadcast(ProcessGroup& group, at::Tensor tensor, int root = 0);

/// Rank `root`'s text, on every rank. The other ranks' argument is not looked at.
/// @throws Error{peer_lost, deadline_exceeded}
std::string broadcast_text(ProcessGroup& group, std::string_view text, int root = 0);

/// Every rank's text, by rank, on every rank.
/// @throws Error{peer_lost, deadline_exceeded}
std::vector<std::string> all_gather_text(ProcessGroup& group, std::string_view text);

}  // namespace hpcboot
