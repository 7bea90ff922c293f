#include "loop/validation.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "datasets/batch_loader.hpp"
#include "hpcboot/error.hpp"
#include "loop/batch_tensors.hpp"
#include "loop/plain_nan.hpp"

namespace hpcboot::train {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Refuses what a task of a user may return by mistake.
std::vector<record::Measure> checked(std::vector<record::Measure> measures) {
  const auto wrong = std::find_if(measures.begin(), measures.end(), [](const auto& one) {
    return !record::is_measure_name(one.name);
  });
  if (!measures.empty() && wrong == measures.end()) {
    for (record::Measure& one : measures) one.value = plain_nan(one.value);
    return measures;
  }
  throw Error(ErrorCode::invalid_model_use,
              measures.empty() ? "a task without a measure"
                               : "a task with the measure '" + wrong->name + "'",
              "one measure or more, named in lower-case letters, digits and underscores; not loss "
              "or seconds",
              "change what the task's measures() returns");
}

/// The loss and the tally, added up. A rank without samples has no tally; rank 0 always has one.
torch::Tensor over_all_ranks(double loss, torch::Tensor tally, Communicator& communicator) {
  const std::string size =
      communicator.broadcast(communicator.is_first() ? std::to_string(tally.numel()) : "");
  if (!tally.defined()) tally = torch::zeros({std::stoll(size)}, torch::kFloat64);
  torch::Tensor sums = torch::cat({torch::tensor({loss}, torch::kFloat64), tally});
  communicator.sum(sums);
  return sums;
}

}  // namespace

std::optional<Validation> validate(ParallelModel& parallel, const tasks::Task& task,
                                   std::int64_t micro_batch, int loader_threads,
                                   Communicator& communicator,
                                   const std::function<bool(double)>& interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  const torch::NoGradGuard no_grad;
  const data::Samples& samples = task.validation_samples();
  models::Model& model = parallel.model();
  const auto whole = parallel.keep_whole();  // ranks may have different numbers of batches
  for (torch::Tensor& buffer : model.buffers()) communicator.broadcast(buffer);
  model.eval();

  std::vector<std::int64_t> indices;
  for (std::int64_t i = communicator.rank(); i < samples.count(); i += communicator.size())
    indices.push_back(i);
  double loss = 0;
  torch::Tensor tally;
  data::LoaderOptions loading;
  loading.threads = loader_threads;
  data::BatchLoader loader(samples, std::move(indices), micro_batch, loading);
  data::Batch batch;
  // The last ranks may have one pass less, but must call interrupted() equally often.
  const std::int64_t most = (samples.count() + communicator.size() - 1) / communicator.size();
  const std::int64_t rounds = (most + micro_batch - 1) / micro_batch;
  bool stopped = false;
  for (std::int64_t round = 0; round < rounds && !stopped; ++round) {
    const auto batch_begin = std::chrono::steady_clock::now();
    if (loader.next(batch)) {
      const tasks::Example example = example_of(batch, task, parallel.device(), parallel.type());
      const torch::Tensor output = parallel.infer(example.inputs);
      loss += static_cast<double>(batch.size) * task.loss(output, example.target).item<double>();
      const torch::Tensor own = task.tally(output, example.target).to(torch::kCPU, torch::kFloat64);
      tally = tally.defined() ? tally + own : own;
    }
    stopped = interrupted(seconds_since(batch_begin));
  }
  model.train();
  if (stopped) return std::nullopt;

  const torch::Tensor sums = over_all_ranks(loss, tally, communicator);
  const auto count = static_cast<double>(samples.count());
  Validation result;
  result.loss = plain_nan(sums[0].item<double>() / count);
  result.measures = checked(task.measures(sums.slice(0, 1)));
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace hpcboot::train
