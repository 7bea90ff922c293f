#include "loop/validation.hpp"

#include <torch/nn/functional/loss.h>

#include <chrono>
#include <numeric>

#include "loop/batch_tensors.hpp"

namespace hpcboot::train {

Validation validate(ParallelModel& parallel, const data::Dataset& set, std::int64_t local_batch,
                    std::int64_t image_size, Team& team) {
  const auto begin = std::chrono::steady_clock::now();
  const torch::NoGradGuard no_grad;
  models::Model& model = parallel.model();
  for (torch::Tensor& buffer : model.buffers()) team.take_from_first(buffer);
  model.eval();

  std::vector<std::int64_t> indices;
  for (std::int64_t i = team.rank(); i < set.count(); i += team.size()) indices.push_back(i);
  double loss = 0;
  double correct = 0;
  if (!indices.empty()) {
    data::BatchLoader loader(set, std::move(indices), local_batch, image_size,
                             loader_options(1, parallel.device()));
    data::Batch batch;
    while (loader.next(batch)) {
      const auto [images, labels] = tensors_of(batch, image_size, parallel.device());
      const torch::Tensor scores = parallel.infer(images);
      loss += torch::nn::functional::cross_entropy(
                  scores, labels,
                  torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                  .item<double>();
      correct += static_cast<double>(scores.argmax(1).eq(labels).sum().item<std::int64_t>());
    }
  }
  model.train();

  torch::Tensor sums = torch::tensor({loss, correct}, torch::kFloat64);
  team.sum(sums);
  const auto count = static_cast<double>(set.count());
  Validation result;
  result.loss = sums[0].item<double>() / count;
  result.accuracy = sums[1].item<double>() / count;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace hpcboot::train
