#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hpcboot::data {

/// How a line of pixels becomes one of another width: pixel i of the result is
/// (1 - weight[i]) * line[first[i]] + weight[i] * line[second[i]].
struct LineTaps {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  std::vector<float> weight;  ///< at least 0, below 1

  std::size_t size() const { return weight.size(); }
};

/// The inner loops of ImageTransform. Pointers of one call must not overlap.
struct LineKernels {
  /// Writes taps.size() floats.
  void (*stretch)(const float* line, const LineTaps& taps, float* out);
  /// out[i] = first[i] + (second[i] - first[i]) * weight, for `size` floats.
  void (*blend)(const float* first, const float* second, float weight, std::size_t size,
                float* out);
};

/// For every processor.
LineKernels portable_line_kernels();

/// With the widest instructions of this processor. On x86-64 the results are those of
/// portable_line_kernels(), bit for bit: no multiplication is fused with an addition.
LineKernels line_kernels();

}  // namespace hpcboot::data
