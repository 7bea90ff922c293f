#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "hpcboot/torch/grad_scaler.hpp"
#include "loop/batch_plan.hpp"
#include "loop/lr_schedule.hpp"
#include "loop/optimizer.hpp"
#include "loop/parallel_model.hpp"
#include "loop/recorded_pass.hpp"
#include "loop/step_phases.hpp"
#include "loop/train_options.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

/// One training step: the passes over a batch, and the weight update.
class TrainStep {
 public:
  /// @param task whose loss is minimised; must outlive this object
  /// @param steps_per_epoch, devices for the learning rate; devices over all ranks
  /// @param group the ranks that share the optimizer's state with --zero; may be null without
  /// @throws UsageError
  TrainStep(ParallelModel& model, const tasks::Task& task, const TrainOptions& options,
            const BatchPlan& batches, std::int64_t steps_per_epoch, int devices,
            const ProcessGroup* group);

  /// Collective.
  /// @param number of the step, from 0, over the whole run
  /// @return the mean loss over this rank's batch
  /// @throws Error{peer_lost, deadline_exceeded}; Error{diverged} if the loss scale of fp16 has
  ///         collapsed
  torch::Tensor run(const models::Inputs& inputs, const torch::Tensor& target, std::int64_t number);

  /// Of the latest step.
  double learning_rate() const { return learning_rate_; }
  const StepPhases& phases() const { return phases_; }

  torch::optim::Optimizer& optimizer() { return *optimizer_; }
  /// Steps skipped in this run because gradients overflowed; nothing except for fp16.
  std::optional<std::int64_t> skipped_steps() const;
  /// Null except for fp16.
  GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }

 private:
  torch::Tensor pass(const models::Inputs& inputs, const torch::Tensor& target, double weight);
  torch::Tensor compute_gradients(const models::Inputs& inputs, const torch::Tensor& target);
  torch::Tensor replay(const models::Inputs& inputs, const torch::Tensor& target);
  void change_weights();

  ParallelModel& model_;
  const tasks::Task& task_;
  std::int64_t micro_batch_;
  double clip_grad_norm_;
  LrSchedule schedule_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;
  torch::Tensor loss_scale_;  ///< that of scaler_, on the device, where a recorded pass reads it
  std::optional<RecordedPass> recorded_;
  double learning_rate_ = 0;
  StepPhases phases_;
};

}  // namespace hpcboot::train
