#include "datasets/line_kernels.hpp"

namespace hpcboot::data {
namespace {

// The loops are written once. Inlined into a function with a target attribute, they are compiled
// for that target.
#define HPCBOOT_INLINE [[gnu::always_inline]] inline

HPCBOOT_INLINE void stretch_line(const float* __restrict line, const LineTaps& taps,
                                 float* __restrict out) {
  const std::size_t size = taps.size();
  const std::int32_t* const first = taps.first.data();
  const std::int32_t* const second = taps.second.data();
  const float* const weight = taps.weight.data();
  for (std::size_t i = 0; i < size; ++i) {
    const float value = line[first[i]];
    out[i] = value + (line[second[i]] - value) * weight[i];
  }
}

HPCBOOT_INLINE void blend_lines(const float* __restrict first, const float* __restrict second,
                                float weight, std::size_t size, float* __restrict out) {
  for (std::size_t i = 0; i < size; ++i) out[i] = first[i] + (second[i] - first[i]) * weight;
}

void stretch(const float* line, const LineTaps& taps, float* out) {
  stretch_line(line, taps, out);
}

void blend(const float* first, const float* second, float weight, std::size_t size, float* out) {
  blend_lines(first, second, weight, size, out);
}

#ifdef __x86_64__
// Not "fma": whether GCC fuses depends on the target, and results would differ between machines.
[[gnu::target("avx2")]] void stretch_avx2(const float* line, const LineTaps& taps, float* out) {
  stretch_line(line, taps, out);
}

[[gnu::target("avx2")]] void blend_avx2(const float* first, const float* second, float weight,
                                        std::size_t size, float* out) {
  blend_lines(first, second, weight, size, out);
}
#endif

}  // namespace

LineKernels portable_line_kernels() {
  return {stretch, blend};
}

LineKernels line_kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0) return {stretch_avx2, blend_avx2};
#endif
  return portable_line_kernels();
}

}  // namespace hpcboot::data
