#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "loop/team.hpp"

namespace hpcboot::train {

/// The loss of each step over the global batch. Ranks see their own part only, and a reduction a
/// step would cost the small models dearly: parts are kept and reduced together, every kEvery
/// steps.
class StepLosses {
 public:
  static constexpr std::size_t kEvery = 10;

  explicit StepLosses(Team& team) : team_(team) {}

  /// Keeps the loss of a step: the mean over `images` of this rank. Collective at every kEvery-th
  /// call.
  /// @return the losses that are known now, of the steps since the last that were
  std::vector<double> add(const at::Tensor& loss, std::int64_t images);

  /// The same for what is left. Collective.
  std::vector<double> flush();

  /// Mean over all samples of all ranks so far: what the epoch reports.
  double mean() const { return images_ == 0 ? 0 : sum_ / images_; }

 private:
  Team& team_;
  std::vector<double> parts_;  ///< loss sum and images of each step, one after the other
  double sum_ = 0;
  double images_ = 0;
};

}  // namespace hpcboot::train
