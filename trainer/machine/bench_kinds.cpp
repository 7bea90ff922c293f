#include "machine/bench_kinds.hpp"

namespace hpcboot::machine {

const std::vector<BenchKind>& bench_kinds() {
  static const std::vector<BenchKind> kinds{
      {"allreduce", "the sum over all ranks, by size; start it once per rank"},
      {"matmul", "products of square matrices, by size and type"},
      {"convolution", "ResNet50's convolutions, by layer, type and layout in memory"},
      {"layernorm", "layer normalisation: native, composed, fused; by type and width"},
      {"copy", "copies within and between host and device memory, by size"},
      {"loader", "images from the loader, by number of threads and size"}};
  return kinds;
}

}  // namespace hpcboot::machine
