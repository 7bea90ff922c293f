#pragma once

#include <torch/types.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datasets/samples.hpp"
#include "loop/train_options.hpp"
#include "models/model.hpp"
#include "record/measure.hpp"

namespace hpcboot::tasks {

/// Samples on the device of the model.
struct Example {
  models::Inputs inputs;  ///< of the model
  torch::Tensor target;   ///< what its output is compared with
};

/// What is trained: data, model, loss and measures. All else, such as devices, ranks, precision,
/// schedules and checkpoints, is the loop's. The first dimension of every tensor is the samples, so
/// that the loop can divide them among ranks, devices and passes.
class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const data::Samples& train_samples() const { return *train_; }
  const data::Samples& validation_samples() const { return *validation_; }

  /// What is unusual in the samples and may be a mistake, for the user to see at the start; empty
  /// if nothing is.
  virtual std::string warning() const { return ""; }

  /// A model with new weights, drawn from LibTorch's default generator. Called once per replica.
  virtual std::shared_ptr<models::Model> make_model() const = 0;

  /// Makes examples of the parts of a batch, which are on the device. By default, the last part is
  /// the target and the others are the inputs.
  virtual Example prepare(std::vector<torch::Tensor> parts) const;

  /// The loss to be minimised: the mean over the samples.
  virtual torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& target) const = 0;

  /// What measures() needs to know of some validation samples: numbers that add up over batches and
  /// ranks. One dimension, of the same size in every call.
  virtual torch::Tensor tally(const torch::Tensor& output, const torch::Tensor& target) const = 0;

  /// The measures of a validation, at least one. The best epoch is the one in which the first is
  /// highest; NaN, for what is undefined, is the lowest.
  /// @param tally the sum over all samples, double precision, on the CPU
  virtual std::vector<record::Measure> measures(const torch::Tensor& tally) const = 0;

  /// What a program must know to build the model and to prepare its inputs, for the metadata of
  /// model.safetensors.
  virtual std::map<std::string, std::string> metadata() const = 0;

 protected:
  Task(std::unique_ptr<const data::Samples> train, std::unique_ptr<const data::Samples> validation)
      : train_(std::move(train)), validation_(std::move(validation)) {}

 private:
  std::unique_ptr<const data::Samples> train_;
  std::unique_ptr<const data::Samples> validation_;
};

/// The task that --task names, with its data opened.
/// @param device of the model
/// @throws Error{invalid_model_use} for an unknown name, and what opening the data throws
std::unique_ptr<Task> make_task(const train::TrainOptions& options, torch::Device device);

}  // namespace hpcboot::tasks
