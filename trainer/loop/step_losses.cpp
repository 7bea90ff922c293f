#include "loop/step_losses.hpp"

#include <fmt/format.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "loop/plain_nan.hpp"

namespace hpcboot::train {

std::vector<double> StepLosses::add(const at::Tensor& loss, std::int64_t images,
                                    const StepPlace& place) {
  parts_.push_back({loss.reshape({}), static_cast<double>(images), place});
  return parts_.size() >= kEvery ? flush() : std::vector<double>{};
}

// Sums in rank order: the summation order of an all-reduce depends on a number's position in the
// buffer, so a resumed run, which flushes at other steps, would get different last bits. Here each
// rank adds its part to the others' zeros, which is exact in any order.
at::Tensor StepLosses::over_all_ranks(const at::Tensor& own) {
  if (communicator_.size() == 1) return own;
  const at::Tensor parts =
      torch::zeros({communicator_.size(), own.size(0), own.size(1)}, own.options());
  parts[communicator_.rank()].copy_(own);
  communicator_.sum(parts);
  at::Tensor sums = parts[0].clone();
  for (int rank = 1; rank < communicator_.size(); ++rank) sums.add_(parts[rank]);
  return sums;
}

std::vector<double> StepLosses::flush() {
  std::vector<double> losses;
  if (parts_.empty()) return losses;
  const std::vector<Part> parts = std::exchange(parts_, {});
  std::vector<at::Tensor> numbers;
  std::vector<double> images;
  for (const Part& part : parts) {
    numbers.push_back(part.loss);
    images.push_back(part.images);
  }
  const at::Tensor own = torch::stack(numbers).to(torch::kCPU, torch::kFloat64);
  const at::Tensor weights = torch::tensor(images, torch::kFloat64);
  const at::Tensor sums = over_all_ranks(torch::stack({own * weights, weights}));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i);
    const auto sum = sums[0][column].item<double>();
    const auto count = sums[1][column].item<double>();
    losses.push_back(plain_nan(sum / count));
    sum_ += sum;
    images_ += count;
    if (!std::isfinite(losses.back())) {
      fail(parts[i].place, losses.back(), own[column].item<double>());
    }
  }
  return losses;
}

void StepLosses::fail(const StepPlace& place, double loss, double own_part) {
  // All ranks see the same sum and get here together, so a collective is possible.
  std::string ranks;
  for (const std::string& rank : communicator_.gather(
           std::isfinite(own_part)
               ? ""
               : fmt::format("rank {} on {}", communicator_.rank(), own_hostname()))) {
    if (!rank.empty()) ranks += (ranks.empty() ? "" : ", ") + rank;
  }
  throw Error(
      ErrorCode::diverged,
      fmt::format("the training loss is {} in step {} of the run, epoch {}, at a learning "
                  "rate of {:g}, {}",
                  loss, place.step, place.epoch, place.learning_rate,
                  ranks.empty() ? "in the sum over all ranks" : "first seen on " + ranks),
      "a finite number",
      "lower --lr, clip the gradients with --clip-grad-norm 1, use --precision fp32 or bf16 "
      "instead of fp16, or check the data for damaged images and labels");
}

}  // namespace hpcboot::train
