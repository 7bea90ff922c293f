#include "loop/validation.hpp"

#include <torch/nn/functional/loss.h>

#include <chrono>
#include <numeric>

#include "loop/batch_tensors.hpp"

namespace hpcboot::train {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::optional<Validation> validate(ParallelModel& parallel, const data::Dataset& set,
                                   std::int64_t local_batch, std::int64_t image_size,
                                   Communicator& communicator,
                                   const std::function<bool(double)>& interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  const torch::NoGradGuard no_grad;
  models::Model& model = parallel.model();
  const auto whole = parallel.keep_whole();  // ranks may have different numbers of batches
  for (torch::Tensor& buffer : model.buffers()) communicator.broadcast(buffer);
  model.eval();

  std::vector<std::int64_t> indices;
  for (std::int64_t i = communicator.rank(); i < set.count(); i += communicator.size())
    indices.push_back(i);
  double loss = 0;
  double correct = 0;
  data::BatchLoader loader(set, std::move(indices), local_batch, image_size,
                           loader_options(1, parallel.device()));
  data::Batch batch;
  // The last ranks may have one batch less, but must call interrupted() equally often.
  const std::int64_t most = (set.count() + communicator.size() - 1) / communicator.size();
  const std::int64_t rounds = (most + local_batch - 1) / local_batch;
  bool stopped = false;
  for (std::int64_t round = 0; round < rounds && !stopped; ++round) {
    const auto batch_begin = std::chrono::steady_clock::now();
    if (loader.next(batch)) {
      const auto [images, labels] = tensors_of(batch, image_size, parallel.device());
      const torch::Tensor scores = parallel.infer(images);
      loss += torch::nn::functional::cross_entropy(
                  scores, labels,
                  torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                  .item<double>();
      correct += static_cast<double>(scores.argmax(1).eq(labels).sum().item<std::int64_t>());
    }
    stopped = interrupted(seconds_since(batch_begin));
  }
  model.train();
  if (stopped) return std::nullopt;

  torch::Tensor sums = torch::tensor({loss, correct}, torch::kFloat64);
  communicator.sum(sums);
  const auto count = static_cast<double>(set.count());
  Validation result;
  result.loss = sums[0].item<double>() / count;
  result.accuracy = sums[1].item<double>() / count;
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace hpcboot::train
