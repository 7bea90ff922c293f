#pragma once

#include <cstdint>

namespace hpcboot::train {

/// Where the time of a step went on this rank, in seconds, and what it gave to the exchange of
/// gradients. A CUDA device works on after its part was handed to it; what it has left to do is
/// counted where the program next waits for it.
struct StepPhases {
  double forward = 0;
  double backward = 0;       ///< until the last gradient was there
  double communication = 0;  ///< from then until all gradients were exchanged
  double optimizer = 0;
  std::int64_t bytes_reduced = 0;

  StepPhases& operator+=(const StepPhases& other);
};

}  // namespace hpcboot::train
