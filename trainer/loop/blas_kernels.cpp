#include "loop/blas_kernels.hpp"

namespace hpcboot::train {

VectorInstructions vector_instructions() {
  VectorInstructions available;
#ifdef __x86_64__
  available.avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  available.avx512 =
      available.avx2 && __builtin_cpu_supports("avx512f") != 0 &&
      __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
  return available;
}

std::map<std::string, std::string> blas_kernels(const Env& env, VectorInstructions available) {
  if (env.has("OPENBLAS_CORETYPE")) return {};
  // The first processor with these instructions: later ones run its kernels as well as their own.
  if (available.avx512) return {{"OPENBLAS_CORETYPE", "SkylakeX"}};
  if (available.avx2) return {{"OPENBLAS_CORETYPE", "Haswell"}};
  return {};
}

}  // namespace hpcboot::train
