#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

namespace hpcboot {

/// Makes CUDA device `device` this thread's current one, and uses NCCL for the group's collectives
/// on CUDA tensors from now on. Every rank calls it, and is connected to all others when it
/// returns. Compiled only if has_nccl().
/// @throws Error{exchange_failed} with NCCL's reason, such as two ranks on one device;
///         Error{deadline_exceeded}
void add_nccl(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store, int device,
              std::chrono::milliseconds start_up_deadline,
              std::chrono::milliseconds collective_timeout);

/// Shuts NCCL down in order once all ranks are done with it; the destructor would abort its
/// communicators, with a warning. Every rank calls it. Waits at most a minute.
void end_nccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group);

}  // namespace hpcboot
