#include "loop/determinism.hpp"

#include <ATen/Context.h>

#include "loop/train_options.hpp"

namespace hpcboot::train {

void use_deterministic_algorithms(c10::Device device, const Env& env) {
  // Without it, LibTorch refuses the first matrix product; LibTorch reads it only once.
  const auto workspace = env.text("CUBLAS_WORKSPACE_CONFIG");
  if (device.is_cuda() && workspace != ":4096:8" && workspace != ":16:8") {
    throw UsageError(
        "--deterministic on a CUDA device needs CUBLAS_WORKSPACE_CONFIG=:4096:8 (or :16:8) in the "
        "environment of every rank; without it, the order of cuBLAS's sums varies");
  }
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
}

}  // namespace hpcboot::train
