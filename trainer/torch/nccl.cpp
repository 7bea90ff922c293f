#include "nccl.hpp"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

bool has_nccl() {
  return true;
}

void add_nccl(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store, int device,
              std::chrono::milliseconds timeout) {
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  // Gloo has used the store already, and NCCL's keys are its own.
  group.setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::NCCL,
                   c10::make_intrusive<c10d::ProcessGroupNCCL>(
                       c10::make_intrusive<c10d::PrefixStore>("nccl", store), group.getRank(),
                       group.getSize(), options));
}

}  // namespace hpcboot
