#pragma once

#include <cstddef>

namespace hpcboot::train {

/// What is the same for all elements in a step of Adam.
struct AdamStep {
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double decay = 0;          ///< weight decay: Adam adds it to the gradients
  bool decay_apart = false;  ///< AdamW: weights shrink by lr * decay instead
  long step = 0;             ///< 1 in the first
};

/// A step of Adam (https://arxiv.org/abs/1412.6980) or AdamW (https://arxiv.org/abs/1711.05101) in
/// one pass over `size` elements, in the order of operations of torch::optim::Adam. An element's
/// result does not depend on its place: models train alike in shards and whole.
/// @param average of the gradients; `square_average` of their squares
template <typename Real>
void adam_step(const AdamStep& how, std::size_t size, Real* parameter, const Real* gradient,
               Real* average, Real* square_average);

}  // namespace hpcboot::train
