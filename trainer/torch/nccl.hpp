#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

namespace hpcboot {

/// Makes `device` of CUDA this thread's current one, and lets NCCL do the group's collectives on
/// tensors of CUDA devices from now on. Every rank calls it, and is connected with all others when
/// it returns. Compiled where has_nccl().
/// @throws Error{exchange_failed} with NCCL's reason, such as two ranks on one device;
///         Error{deadline_exceeded}
void add_nccl(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store, int device,
              std::chrono::milliseconds start_up_deadline,
              std::chrono::milliseconds collective_timeout);

/// The orderly end of NCCL in a group whose ranks are all done with it: left to the destructor, its
/// communicators would be aborted, with a warning. Every rank calls it. Waits a minute at most.
void end_nccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace hpcboot
