#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

namespace hpcboot {

/// Makes `device` of CUDA this thread's current one, and lets NCCL do the group's collectives on
/// tensors of CUDA devices from now on. Every rank calls it. Connects at the first collective.
/// Compiled where has_nccl().
void add_nccl(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store, int device,
              std::chrono::milliseconds timeout);

}  // namespace hpcboot
