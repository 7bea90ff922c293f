#pragma once

#include <map>
#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::train {

/// Vector instructions of the processor that this process runs on.
struct VectorInstructions {
  bool avx2 = false;    ///< with fused multiplication and addition
  bool avx512 = false;  ///< those of Intel's servers since 2017: F, CD, BW, DQ and VL
};

VectorInstructions vector_instructions();

/// Variables to add to the environment before OpenBLAS is loaded, so that it multiplies matrices
/// with these instructions. Its versions before 0.3.25 use those of 2004 on an Intel processor that
/// is newer than they are (https://github.com/OpenMathLib/OpenBLAS/issues/4267), which takes four
/// times as long. Other libraries ignore the variable.
/// @param env OPENBLAS_CORETYPE, if it is set, stays
std::map<std::string, std::string> blas_kernels(const Env& env, VectorInstructions available);

}  // namespace hpcboot::train
