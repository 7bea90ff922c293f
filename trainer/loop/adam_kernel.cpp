#include "loop/adam_kernel.hpp"

#include <cmath>

namespace hpcboot::train {

template <typename Real>
void adam_step(const AdamStep& how, std::size_t size, Real* __restrict parameter,
               const Real* __restrict gradient, Real* __restrict average,
               Real* __restrict square_average) {
  const auto steps = static_cast<double>(how.step);
  const auto beta1 = static_cast<Real>(how.beta1), rest1 = static_cast<Real>(1 - how.beta1);
  const auto beta2 = static_cast<Real>(how.beta2), rest2 = static_cast<Real>(1 - how.beta2);
  const auto eps = static_cast<Real>(how.eps);
  const auto rate = static_cast<Real>(how.lr / (1 - std::pow(how.beta1, steps)));
  const auto correction = static_cast<Real>(std::sqrt(1 - std::pow(how.beta2, steps)));
  const auto kept = static_cast<Real>(how.decay_apart ? 1 - how.lr * how.decay : 1);
  const auto added = static_cast<Real>(how.decay_apart ? 0 : how.decay);
  for (std::size_t i = 0; i < size; ++i) {
    const Real weight = parameter[i] * kept;
    const Real slope = gradient[i] + added * weight;
    average[i] = average[i] * beta1 + rest1 * slope;
    square_average[i] = square_average[i] * beta2 + rest2 * slope * slope;
    parameter[i] = weight - rate * average[i] / (std::sqrt(square_average[i]) / correction + eps);
  }
}

template void adam_step(const AdamStep&, std::size_t, float*, const float*, float*, float*);
template void adam_step(const AdamStep&, std::size_t, double*, const double*, double*, double*);

}  // namespace hpcboot::train
