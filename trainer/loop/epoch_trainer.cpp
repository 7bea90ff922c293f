#include "loop/epoch_trainer.hpp"

#include <chrono>
#include <cmath>

#include "datasets/batch_loader.hpp"
#include "hpcboot/torch/distributed_sampler.hpp"
#include "loop/batch_tensors.hpp"
#include "loop/step_losses.hpp"
#include "loop/validation.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::int64_t steps_of_an_epoch(std::int64_t samples, const BatchPlan& batches, const Team& team) {
  const std::int64_t own = DistributedSampler(samples, team.size(), team.rank()).size();
  return (own + batches.local - 1) / batches.local;
}

}  // namespace

std::int64_t training_samples(const data::Dataset& set, const TrainOptions& options) {
  return std::llround(std::ceil(options.data_fraction * static_cast<double>(set.count())));
}

EpochTrainer::EpochTrainer(ParallelModel& model, const data::Dataset& set,
                           const TrainOptions& options, const BatchPlan& batches, int devices,
                           Team& team)
    : model_(model),
      set_(set),
      options_(options),
      batches_(batches),
      team_(team),
      step_(model, options, batches,
            steps_of_an_epoch(training_samples(set, options), batches, team), devices) {}

record::EpochRecord EpochTrainer::run(int epoch, RunCurves* curves, ProgressBar& bar,
                                      const std::function<void()>& after_step) {
  const auto begin = Clock::now();
  const DistributedSampler sampler(training_samples(set_, options_), team_.size(), team_.rank(),
                                   {true, options_.seed});
  const auto loading = loader_options(options_.loader_threads, model_.device());
  data::BatchLoader loader(set_, sampler.indices(static_cast<std::uint64_t>(epoch - 1)),
                           batches_.local, options_.image_size, loading);
  StepLosses losses(team_);
  Progress progress;
  progress.epoch = epoch;
  progress.epochs = options_.epochs;
  progress.steps = loader.batches();

  // Rows wait here until the losses of their steps are known.
  std::vector<record::StepMetrics> rows;
  const auto write = [&](const std::vector<double>& known) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      rows[i].loss = known[i];
      if (curves != nullptr) curves->add(rows[i]);
    }
    if (!known.empty()) progress.loss = known.back();
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(known.size()));
  };

  std::int64_t images_seen = 0;
  StepPhases phases;
  const std::int64_t skipped_before = step_.skipped_steps().value_or(0);
  auto step_begin = Clock::now();
  data::Batch batch;
  while (loader.next(batch)) {
    const double waited = loader.wait_seconds();
    const auto [images, labels] = tensors_of(batch, options_.image_size, model_.device());
    const torch::Tensor loss = step_.run(images, labels, steps_);

    const std::int64_t images_of_step = batch.size * team_.size();
    images_seen += images_of_step;
    const double step_seconds = seconds_since(step_begin);
    step_begin = Clock::now();
    record::StepMetrics row;
    row.epoch = epoch;
    row.step = ++steps_;
    row.learning_rate = step_.learning_rate();
    row.images_per_second = static_cast<double>(images_of_step) / step_seconds;
    row.data_wait_seconds = waited;
    row.step_seconds = step_seconds;
    phases += step_.phases();
    row.forward_seconds = step_.phases().forward;
    row.backward_seconds = step_.phases().backward;
    row.communication_seconds = step_.phases().communication;
    row.optimizer_seconds = step_.phases().optimizer;
    row.bytes_reduced = step_.phases().bytes_reduced;
    rows.push_back(row);
    write(losses.add(loss, batch.size, {epoch, row.step, row.learning_rate}));

    ++progress.step;
    progress.seconds = seconds_since(begin);
    progress.images_per_second = static_cast<double>(images_seen) / progress.seconds;
    if (progress.step == 1) progress.loss = loss.item<double>();
    bar.update(progress);
    after_step();
  }
  write(losses.flush());
  bar.clear();

  record::EpochRecord done;
  done.epoch = epoch;
  done.steps = progress.step;
  done.train_seconds = seconds_since(begin);
  done.train_loss = losses.mean();
  done.images_per_second = static_cast<double>(images_seen) / *done.train_seconds;
  done.data_wait_seconds = loader.total_wait_seconds();
  done.forward_seconds = phases.forward;
  done.backward_seconds = phases.backward;
  done.communication_seconds = phases.communication;
  done.optimizer_seconds = phases.optimizer;
  done.bytes_reduced = phases.bytes_reduced;
  if (const auto skipped = step_.skipped_steps()) done.skipped_steps = *skipped - skipped_before;
  return done;
}

}  // namespace hpcboot::train
