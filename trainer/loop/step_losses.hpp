#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loop/communicator.hpp"

namespace hpcboot::train {

/// The step of a loss, for the message if the loss is not finite.
struct StepPlace {
  int epoch = 1;
  std::int64_t step = 0;  ///< over the whole run, from 1
  double learning_rate = 0;
};

/// The loss of each step over the global batch. A rank knows only its own part, and an all-reduce
/// per step would be expensive for small models, as would waiting for a GPU in each step. Parts
/// therefore stay on the device, and are read and reduced together every kEvery steps.
class StepLosses {
 public:
  static constexpr std::size_t kEvery = 10;

  explicit StepLosses(Communicator& communicator) : communicator_(communicator) {}

  /// Stores the loss of a step: the mean over `images` of this rank. Collective in every kEvery-th
  /// call.
  /// @return the losses that became known now, of all steps since the previous ones
  /// @throws Error{diverged} on all ranks if one of these is not finite, with the step and the
  ///         ranks whose part is not finite
  std::vector<double> add(const at::Tensor& loss, std::int64_t images, const StepPlace& place);

  /// The same for the remaining steps. Collective.
  std::vector<double> flush();

  /// Mean over all samples of all ranks so far: what the epoch reports.
  double mean() const { return images_ == 0 ? 0 : sum_ / images_; }

  /// Numerator and denominator of mean(), for a checkpoint; call flush() before.
  double sum() const { return sum_; }
  double images() const { return images_; }
  void load_state(double sum, double images) {
    sum_ = sum;
    images_ = images;
  }

 private:
  struct Part {
    at::Tensor loss;  ///< one number, on any device
    double images = 0;
    StepPlace place;
  };
  /// Sums over all ranks.
  at::Tensor over_all_ranks(const at::Tensor& own);
  [[noreturn]] void fail(const StepPlace& place, double loss, double own_part);

  Communicator& communicator_;
  std::vector<Part> parts_;
  double sum_ = 0;
  double images_ = 0;
};

}  // namespace hpcboot::train
