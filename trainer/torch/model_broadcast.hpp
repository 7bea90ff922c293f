#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// Sets parameters or buffers to those of rank `root`, all in few broadcasts. Collective.
/// @param what for messages: "the broadcast of buffers"
/// @throws Error{peer_lost, deadline_exceeded}
void broadcast_from(int root, const std::vector<at::Tensor>& tensors, const ProcessGroup& group,
                    const char* what);

}  // namespace hpcboot
