#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loop/communicator.hpp"

namespace hpcboot::train {

/// Which step a loss is of, for the message where it is no number.
struct StepPlace {
  int epoch = 1;
  std::int64_t step = 0;  ///< over the whole run, from 1
  double learning_rate = 0;
};

/// The loss of each step over the global batch. Ranks see their own part only, and a reduction a
/// step would cost the small models dearly, as would a GPU that is waited for in each: parts are
/// kept where they were computed, and read and reduced together, every kEvery steps.
class StepLosses {
 public:
  static constexpr std::size_t kEvery = 10;

  explicit StepLosses(Communicator& communicator) : communicator_(communicator) {}

  /// Keeps the loss of a step: the mean over `images` of this rank. Collective at every kEvery-th
  /// call.
  /// @return the losses that are known now, of the steps since the last that were
  /// @throws Error{diverged} on all ranks where one of these is not finite, with the step and the
  ///   ranks whose part is not
  std::vector<double> add(const at::Tensor& loss, std::int64_t images, const StepPlace& place);

  /// The same for what is left. Collective.
  std::vector<double> flush();

  /// Mean over all samples of all ranks so far: what the epoch reports.
  double mean() const { return images_ == 0 ? 0 : sum_ / images_; }

  /// What mean() divides: a checkpoint keeps them, when nothing is left to flush.
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
  /// The sums of what each rank has.
  at::Tensor over_all_ranks(const at::Tensor& own);
  [[noreturn]] void fail(const StepPlace& place, double loss, double own_part);

  Communicator& communicator_;
  std::vector<Part> parts_;
  double sum_ = 0;
  double images_ = 0;
};

}  // namespace hpcboot::train
