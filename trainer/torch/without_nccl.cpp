// Replaces nccl.cpp if LibTorch is not built for CUDA, or is 1.13, whose groups cannot have one
// backend per device type.

#include <c10/util/Exception.h>

#include "hpcboot/torch/process_group.hpp"
#include "nccl.hpp"

namespace hpcboot {

bool has_nccl() {
  return false;
}

void add_nccl(c10d::ProcessGroup& /*group*/, const c10::intrusive_ptr<c10d::Store>& /*store*/,
              int /*device*/, std::chrono::milliseconds /*start_up_deadline*/,
              std::chrono::milliseconds /*collective_timeout*/) {
  TORCH_INTERNAL_ASSERT(false, "add_nccl() without NCCL");
}

void end_nccl(const c10::intrusive_ptr<c10d::ProcessGroup>& /*group*/) {
  TORCH_INTERNAL_ASSERT(false, "end_nccl() without NCCL");
}

}  // namespace hpcboot
