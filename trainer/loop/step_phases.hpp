#pragma once

#include <cstdint>

namespace hpcboot::train {

/// How the time of a step was spent on this rank, in seconds, and the bytes that it contributed to
/// the gradient exchange. A CUDA device works asynchronously; its remaining work is counted in the
/// phase in which the program next waits for it.
struct StepPhases {
  double forward = 0;
  double backward = 0;       ///< until the last gradient was ready
  double communication = 0;  ///< from then until all gradients were exchanged
  double optimizer = 0;
  std::int64_t bytes_reduced = 0;

  StepPhases& operator+=(const StepPhases& other);
};

}  // namespace hpcboot::train
