#include "loop/step_losses.hpp"

#include <torch/types.h>

#include <cmath>

#include "hpcboot/error.hpp"

namespace hpcboot::train {

std::vector<double> StepLosses::add(const at::Tensor& loss, std::int64_t images) {
  parts_.push_back(loss.item<double>() * static_cast<double>(images));
  parts_.push_back(static_cast<double>(images));
  return parts_.size() >= 2 * kEvery ? flush() : std::vector<double>{};
}

std::vector<double> StepLosses::flush() {
  std::vector<double> losses;
  if (parts_.empty()) return losses;
  team_.sum(
      torch::from_blob(parts_.data(), {static_cast<std::int64_t>(parts_.size())}, torch::kFloat64));
  for (std::size_t i = 0; i < parts_.size(); i += 2) {
    losses.push_back(parts_[i] / parts_[i + 1]);
    sum_ += parts_[i];
    images_ += parts_[i + 1];
    if (!std::isfinite(losses.back())) {
      throw Error(ErrorCode::diverged, "the training loss is " + std::to_string(losses.back()),
                  "a finite number",
                  "lower --lr, or look for damaged images and labels in the data");
    }
  }
  parts_.clear();
  return losses;
}

}  // namespace hpcboot::train
