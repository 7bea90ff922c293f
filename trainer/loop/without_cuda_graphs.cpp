// Replaces recorded_pass.cpp if LibTorch is not built for CUDA, or is older than 2.

#include <c10/util/Exception.h>

#include <utility>

#include "loop/recorded_pass.hpp"

namespace hpcboot::train {

struct RecordedPass::Graph {};

bool has_cuda_graphs() {
  return false;
}

RecordedPass::RecordedPass(std::vector<torch::Tensor> /*parameters*/, Pass /*pass*/) {
  TORCH_INTERNAL_ASSERT(false, "RecordedPass without CUDA graphs");
}

RecordedPass::~RecordedPass() = default;

torch::Tensor RecordedPass::run(const models::Inputs& /*inputs*/, const torch::Tensor& /*target*/) {
  TORCH_INTERNAL_ASSERT(false, "RecordedPass without CUDA graphs");
}

}  // namespace hpcboot::train
