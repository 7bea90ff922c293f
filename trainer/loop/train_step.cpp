#include "loop/train_step.hpp"

#include <ATen/record_function.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collective_failure.hpp"
#include "hpcboot/torch/precision.hpp"
#include "profile/trace_event.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

// A scale below this is no random fluctuation: the gradients overflow in fp16 even unscaled.
constexpr double kCollapsedScale = 1.0 / 1024;

/// Seconds since `begin`, which is set to the current time.
double lap(Clock::time_point& begin) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - begin).count();
  begin = now;
  return seconds;
}

std::optional<GradScaler> scaler_of(const TrainOptions& options) {
  if (precision_of(options.precision) != Precision::fp16) return std::nullopt;
  GradScalerOptions scaling;
  scaling.initial_scale = std::ldexp(1.0, options.initial_scale_power);
  scaling.growth_interval = options.scale_growth_interval;
  return GradScaler(scaling);
}

std::unique_ptr<torch::optim::Optimizer> optimizer_of(ParallelModel& model,
                                                      const TrainOptions& options,
                                                      const ProcessGroup* group) {
  const OptimizationOptions& how = options.optimization;
  if (model.sharded() != nullptr) return make_sharded_optimizer(*model.sharded(), how);
  const std::vector<torch::Tensor> parameters = model.model().parameters();
  return options.zero > 0 ? make_sharded_optimizer(parameters, how, *group)
                          : make_optimizer(parameters, how);
}

}  // namespace

StepPhases& StepPhases::operator+=(const StepPhases& other) {
  forward += other.forward;
  backward += other.backward;
  communication += other.communication;
  optimizer += other.optimizer;
  bytes_reduced += other.bytes_reduced;
  return *this;
}

TrainStep::TrainStep(ParallelModel& model, const tasks::Task& task, const TrainOptions& options,
                     const BatchPlan& batches, std::int64_t steps_per_epoch, int devices,
                     const ProcessGroup* group)
    : model_(model),
      task_(task),
      micro_batch_(batches.micro),
      clip_grad_norm_(options.optimization.clip_grad_norm),
      schedule_(options.optimization, steps_per_epoch, options.epochs, devices),
      optimizer_(optimizer_of(model, options, group)),
      scaler_(scaler_of(options)) {
  if (scaler_) loss_scale_ = torch::empty({}, model.device());
  if (!options.cuda_graph) return;
  recorded_.emplace(model.model().parameters(),
                    [this](const models::Inputs& inputs, const torch::Tensor& target) {
                      return pass(inputs, target, 1);
                    });
}

torch::Tensor TrainStep::pass(const models::Inputs& inputs, const torch::Tensor& target,
                              double weight) {
  auto begin = Clock::now();
  torch::Tensor loss = with_peers("the forward pass", [&] {
    RECORD_USER_SCOPE(profile::kForward);
    return task_.loss(model_.forward(inputs), target);
  });
  if (weight != 1) loss = loss * weight;
  phases_.forward += lap(begin);
  with_peers("the backward pass", [&] {
    RECORD_USER_SCOPE(profile::kBackward);
    (scaler_ ? loss * loss_scale_ : loss).backward();
  });
  const double backward = lap(begin);
  const double exposed = std::min(model_.exchange_seconds(begin), backward);
  phases_.communication += exposed;
  phases_.backward += backward - exposed;
  return loss.detach();
}

torch::Tensor TrainStep::compute_gradients(const models::Inputs& inputs,
                                           const torch::Tensor& target) {
  const std::int64_t total = target.size(0);
  torch::Tensor mean;
  for (std::int64_t begin = 0; begin < total; begin += micro_batch_) {
    const std::int64_t count = std::min(micro_batch_, total - begin);
    const auto part = [&] {
      // Weighted so that the gradients of the parts add up to that of the mean over the whole
      // batch.
      models::Inputs part_of_inputs;
      for (const torch::Tensor& input : inputs)
        part_of_inputs.push_back(input.narrow(0, begin, count));
      const torch::Tensor loss = pass(part_of_inputs, target.narrow(0, begin, count),
                                      static_cast<double>(count) / static_cast<double>(total));
      mean = mean.defined() ? mean + loss : loss;
    };
    if (begin + count < total) {
      model_.no_sync(part);
    } else {
      part();
    }
  }
  return mean;
}

torch::Tensor TrainStep::replay(const models::Inputs& inputs, const torch::Tensor& target) {
  RECORD_USER_SCOPE(profile::kForward);
  auto begin = Clock::now();
  torch::Tensor loss = recorded_->run(inputs, target);
  phases_ = {};
  phases_.forward = lap(begin);  // the graph does not tell where its forward pass ends
  return loss;
}

std::optional<std::int64_t> TrainStep::skipped_steps() const {
  if (!scaler_) return std::nullopt;
  return scaler_->skipped_steps();
}

void TrainStep::change_weights() {
  const bool finite = !scaler_ || scaler_->unscale(model_.model().parameters());
  if (finite) {
    if (model_.sharded() == nullptr) {
      limit_gradients(*optimizer_, clip_grad_norm_);
    } else if (clip_grad_norm_ > 0) {
      model_.sharded()->clip_grad_norm(clip_grad_norm_);
    }
    with_peers("the optimizer's step", [&] { optimizer_->step(); });
  }
  if (!scaler_) return;
  scaler_->update();
  if (scaler_->scale() >= kCollapsedScale) return;
  throw Error(ErrorCode::diverged,
              fmt::format("the loss scale fell to {:g}; {} steps were skipped, {} of them in a row",
                          scaler_->scale(), scaler_->skipped_steps(), scaler_->skipped_in_a_row()),
              "gradients that fp16 can hold",
              "try --precision bf16, a lower --lr, --clip-grad-norm, or more --warmup-steps");
}

torch::Tensor TrainStep::run(const models::Inputs& inputs, const torch::Tensor& target,
                             std::int64_t number) {
  phases_ = {};
  learning_rate_ = schedule_.at(number);
  set_learning_rate(*optimizer_, learning_rate_);
  // If .grad is undefined, the backward pass stores its gradients instead of adding them to zeros.
  model_.zero_grad();
  if (scaler_) loss_scale_.fill_(scaler_->scale());
  const torch::Tensor loss = recorded_ ? replay(inputs, target) : compute_gradients(inputs, target);
  phases_.bytes_reduced = model_.bytes_of_exchange();
  auto begin = Clock::now();
  {
    RECORD_USER_SCOPE(profile::kOptimizer);
    change_weights();
  }
  phases_.optimizer = lap(begin);
  return loss;
}

}  // namespace hpcboot::train
