#include "loop/epoch_trainer.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "datasets/batch_loader.hpp"
#include "hpcboot/torch/distributed_sampler.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "loop/batch_tensors.hpp"
#include "loop/devices.hpp"
#include "loop/step_losses.hpp"
#include "loop/step_seed.hpp"
#include "loop/validation.hpp"
#include "tasks/task_names.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

/// The name in the model of a parameter or buffer among training_tensors(); empty for others.
std::string name_in_model(const NamedTensor& one) {
  const bool is_of_model = one.name.rfind(kModelPrefix, 0) == 0;
  return is_of_model ? one.name.substr(kModelPrefix.size()) : std::string();
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

std::int64_t samples_of_fraction(std::int64_t all, double fraction) {
  const auto total = static_cast<double>(all);
  const std::int64_t samples = std::llround(std::ceil(fraction * total));
  // The product may be rounded up: 0.07 of 100 is more than 7. A quotient of whole numbers is the
  // double next to the fraction, as is the number that the user wrote.
  const bool is_one_too_many = static_cast<double>(samples - 1) / total >= fraction;
  return is_one_too_many ? samples - 1 : samples;
}

std::int64_t training_samples(const tasks::Task& task, const TrainOptions& options) {
  return samples_of_fraction(task.train_samples().count(), options.data_fraction);
}

std::int64_t samples_of_rank(std::int64_t samples, const Communicator& communicator) {
  return DistributedSampler(samples, communicator.size(), communicator.rank()).size();
}

std::int64_t steps_of_an_epoch(std::int64_t samples, const BatchPlan& batches,
                               const Communicator& communicator) {
  const std::int64_t own = samples_of_rank(samples, communicator);
  return (own + batches.local - 1) / batches.local;
}

EpochTrainer::EpochTrainer(ParallelModel& model, const tasks::Task& task,
                           const TrainOptions& options, const BatchPlan& batches, int devices,
                           Communicator& communicator)
    : model_(model),
      task_(task),
      options_(options),
      batches_(batches),
      communicator_(communicator),
      step_(model, task, options, batches,
            steps_of_an_epoch(training_samples(task, options), batches, communicator), devices,
            communicator.group()) {
  state_.world_size = communicator.size();
  state_.devices = devices;
  if (step_.scaler() != nullptr) state_.scaler = step_.scaler()->state();
}

std::vector<NamedTensor> EpochTrainer::collect_tensors() {
  auto* sharded = dynamic_cast<ShardedOptimizer*>(&step_.optimizer());
  if (sharded != nullptr) sharded->gather_state();
  torch::OrderedDict<std::string, torch::Tensor> whole;
  if (model_.sharded() != nullptr) whole = model_.sharded()->gather_parameters();
  std::vector<NamedTensor> tensors;
  if (communicator_.is_first()) tensors = training_tensors(model_.model(), step_.optimizer());
  for (NamedTensor& one : tensors) {
    const torch::Tensor* value = whole.find(name_in_model(one));
    if (value != nullptr) one.tensor = *value;
  }
  if (sharded != nullptr) sharded->release_state();
  return tensors;
}

torch::nn::Module& EpochTrainer::trained_module() {
  if (model_.sharded() != nullptr) return *model_.sharded();
  return model_.model();
}

CheckpointShare EpochTrainer::collect_share() {
  return share_for_checkpoint(trained_module(), &step_.optimizer(), *communicator_.group());
}

std::int64_t EpochTrainer::checkpoint_bytes() {
  std::int64_t bytes = 0;
  for (const NamedTensor& one : training_tensors(model_.model(), step_.optimizer())) {
    bytes += static_cast<std::int64_t>(one.tensor.nbytes());
  }
  if (model_.sharded() != nullptr) bytes += model_.sharded()->shard_bytes() * communicator_.size();
  if (const auto* sharded = dynamic_cast<ShardedOptimizer*>(&step_.optimizer())) {
    bytes += sharded->state_bytes() * communicator_.size();
  }
  return bytes;
}

void EpochTrainer::load_state(const TrainingState& state, const std::vector<NamedTensor>& tensors,
                              const std::string& file) {
  {
    const auto whole = model_.keep_whole();  // with the shapes that the tensors are checked against
    restore_training_tensors(tensors, model_.model(), step_.optimizer(), file);
  }
  if (model_.sharded() != nullptr) {
    torch::OrderedDict<std::string, torch::Tensor> parameters;
    for (const NamedTensor& one : tensors) {
      const std::string name = name_in_model(one);
      if (!name.empty()) parameters.insert(name, one.tensor);
    }
    model_.sharded()->scatter_parameters(parameters);
  }
  if (auto* sharded = dynamic_cast<ShardedOptimizer*>(&step_.optimizer())) sharded->scatter_state();
  restore_progress(state);
}

void EpochTrainer::load_state(const TrainingState& state, const std::filesystem::path& folder) {
  load_sharded(folder, trained_module(), &step_.optimizer());
  restore_progress(state);
}

void EpochTrainer::restore_progress(const TrainingState& state) {
  state_ = state;
  state_.world_size = communicator_.size();
  if (step_.scaler() != nullptr && state.scaler) step_.scaler()->restore(*state.scaler);
}

void EpochTrainer::end_epoch() {
  ++state_.epoch;
  state_.progress = {};
  state_.progress.skipped_before = step_.skipped_steps().value_or(0);
}

record::EpochRecord EpochTrainer::record() const {
  const EpochProgress& progress = state_.progress;
  record::EpochRecord done;
  done.epoch = state_.epoch;
  done.steps = progress.steps;
  done.train_seconds = progress.train_seconds;
  done.train_loss = progress.loss_images == 0 ? 0 : progress.loss_sum / progress.loss_images;
  done.images_per_second = static_cast<double>(progress.images_seen) / progress.train_seconds;
  done.data_wait_seconds = progress.data_wait_seconds;
  done.forward_seconds = progress.phases.forward;
  done.backward_seconds = progress.phases.backward;
  done.communication_seconds = progress.phases.communication;
  done.optimizer_seconds = progress.phases.optimizer;
  done.bytes_reduced = progress.phases.bytes_reduced;
  if (const auto skipped = step_.skipped_steps()) {
    done.skipped_steps = *skipped - progress.skipped_before;
  }
  return done;
}

std::optional<record::EpochRecord> EpochTrainer::run(const Surroundings& around) {
  EpochProgress& progress = state_.progress;
  auto begin = Clock::now();  // later by the time of the files that were saved since
  const double seconds_before = progress.train_seconds;
  const double waited_before = progress.data_wait_seconds;
  const DistributedSampler sampler(training_samples(task_, options_), communicator_.size(),
                                   communicator_.rank(), {true, options_.seed});
  std::vector<std::int64_t> indices = sampler.indices(static_cast<std::uint64_t>(state_.epoch - 1));
  // With any number of ranks W, a step takes one global batch of the permutation: this many samples
  // per rank are done.
  const std::int64_t done = std::min(progress.steps * batches_.local, sampler.size());
  indices.erase(indices.begin(), indices.begin() + done);
  data::LoaderOptions loading;
  loading.threads = options_.loader_threads;
  loading.epoch = state_.epoch;
  if (around.profiler != nullptr) {
    loading.prepared = [profiler = around.profiler](int worker, Clock::time_point started) {
      profiler->prepared(worker, started);
    };
  }
  data::BatchLoader loader(task_.train_samples(), std::move(indices), batches_.local, loading);
  StepLosses losses(communicator_);
  losses.load_state(progress.loss_sum, progress.loss_images);
  Progress shown;
  shown.epoch = state_.epoch;
  shown.epochs = options_.epochs;
  shown.sample = tasks::known_task(options_.task).sample;
  shown.step = progress.steps;
  shown.steps = progress.steps + loader.batches();

  // Rows are kept here until the losses of their steps are known.
  std::vector<record::StepMetrics> rows;
  const auto write = [&](const std::vector<double>& known) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      rows[i].loss = known[i];
      if (around.curves != nullptr) around.curves->add(rows[i]);
    }
    if (!known.empty()) shown.loss = known.back();
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(known.size()));
  };
  const auto bring_up_to_date = [&] {
    write(losses.flush());
    wait_for(model_.device());  // for the last step's backward pass and weight update
    progress.loss_sum = losses.sum();
    progress.loss_images = losses.images();
    progress.train_seconds = seconds_before + seconds_since(begin);
    progress.data_wait_seconds = waited_before + loader.total_wait_seconds();
    if (step_.scaler() != nullptr) state_.scaler = step_.scaler()->state();
  };

  auto step_begin = Clock::now();
  data::Batch batch;
  while (shown.step < shown.steps) {
    if (around.profiler != nullptr) around.profiler->begin_step(state_.step + 1);
    {
      RECORD_USER_SCOPE(profile::kDataWait);
      loader.next(batch);
    }
    const double waited = loader.wait_seconds();
    const tasks::Example example = [&] {
      RECORD_USER_SCOPE(profile::kCopyToDevice);
      return example_of(batch, task_, model_.device(), model_.type());
    }();
    seed_step(options_.seed, state_.step, communicator_.rank(), model_.devices());
    const torch::Tensor loss = step_.run(example.inputs, example.target, state_.step);

    if (around.profiler != nullptr) around.profiler->complete_step();
    const std::int64_t samples_of_step = batch.size * communicator_.size();
    progress.images_seen += samples_of_step;
    const double step_seconds = seconds_since(step_begin);
    step_begin = Clock::now();
    record::StepMetrics row;
    row.epoch = state_.epoch;
    row.step = ++state_.step;
    row.learning_rate = step_.learning_rate();
    row.images_per_second = static_cast<double>(samples_of_step) / step_seconds;
    row.data_wait_seconds = waited;
    row.step_seconds = step_seconds;
    progress.phases += step_.phases();
    row.forward_seconds = step_.phases().forward;
    row.backward_seconds = step_.phases().backward;
    row.communication_seconds = step_.phases().communication;
    row.optimizer_seconds = step_.phases().optimizer;
    row.bytes_reduced = step_.phases().bytes_reduced;
    around.stepped(row);
    rows.push_back(row);
    write(losses.add(loss, batch.size, {state_.epoch, row.step, row.learning_rate}));

    shown.step = ++progress.steps;
    shown.seconds = seconds_before + seconds_since(begin);
    shown.images_per_second = static_cast<double>(progress.images_seen) / shown.seconds;
    if (progress.steps == 1) shown.loss = loss.item<double>();
    around.bar.update(shown);
    const AfterStep next = around.after_step(step_seconds, shown.step == shown.steps);
    if (next != AfterStep::go_on) {
      bring_up_to_date();
      const auto save_begin = Clock::now();
      around.save();
      const auto saving = Clock::now() - save_begin;
      begin += saving;
      step_begin += saving;
    }
    if (around.profiler != nullptr) {
      // Files are not a part of the next step.
      step_begin += std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(around.profiler->end_step(shown.step == shown.steps)));
    }
    if (next == AfterStep::save_and_stop) {
      around.bar.clear();
      return std::nullopt;
    }
  }
  bring_up_to_date();
  around.bar.clear();
  return record();
}

}  // namespace hpcboot::train
