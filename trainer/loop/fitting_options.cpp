#include "loop/fitting_options.hpp"

#include <algorithm>
#include <vector>

#include "hpcboot/error.hpp"
#include "loop/recorded_pass.hpp"
#include "models/model_names.hpp"
#include "options/option.hpp"
#include "tasks/task_names.hpp"

namespace hpcboot::train {
namespace {

void require_ddp(const TrainOptions& options, const std::string& mode) {
  const char* option = options.sync_bn               ? "--sync-bn"
                       : options.zero > 0            ? "--zero"
                       : options.sharded_checkpoints ? "--sharded-checkpoints"
                                                     : nullptr;
  if (option == nullptr || mode == "ddp") return;
  // One rank of a scaling study is given the options of many.
  throw UsageError(std::string(option) + " needs mode ddp; this run uses mode " + mode +
                   (options.mode == "auto" ? "; for one rank, add --mode ddp" : ""));
}

void require_scaling_to_fit(const TrainOptions& options) {
  const TrainOptions unset;
  const char* option =
      options.initial_scale_power != unset.initial_scale_power       ? "--initial-scale-power"
      : options.scale_growth_interval != unset.scale_growth_interval ? "--scale-growth-interval"
                                                                     : nullptr;
  if (option == nullptr || options.precision == "fp16") return;
  throw UsageError(std::string(option) + " needs --precision fp16; this run uses " +
                   options.precision);
}

/// Options that another one switches on.
void require_use(const TrainOptions& options) {
  const TrainOptions unset;
  const OptimizationOptions& set = options.optimization;
  if (set.momentum != unset.optimization.momentum && set.optimizer != "sgd")
    throw UsageError("--momentum needs --optimizer sgd; this run uses " + set.optimizer);
  const char* decay = set.decay_epochs != unset.optimization.decay_epochs   ? "--decay-epochs"
                      : set.decay_factor != unset.optimization.decay_factor ? "--decay-factor"
                                                                            : nullptr;
  if (decay != nullptr && set.schedule != "step")
    throw UsageError(std::string(decay) + " needs --schedule step; this run uses " + set.schedule);
}

/// What is set for the exchange of gradients between ranks, which only mode ddp has.
std::vector<std::string> exchange_options(const TrainOptions& options) {
  const TrainOptions unset;
  std::vector<std::string> set;
  if (options.backend != unset.backend) set.emplace_back("--backend");
  if (options.bucket_mb != unset.bucket_mb) set.emplace_back("--bucket-mb");
  if (options.compress_gradients != unset.compress_gradients)
    set.emplace_back("--compress-gradients");
  if (options.find_unused_parameters) set.emplace_back("--find-unused-parameters");
  if (options.store != unset.store) set.emplace_back("--store");
  return set;
}

void require_exchange(const TrainOptions& options, const std::string& mode) {
  // Without --mode, one rank of a scaling study is given the options of many: unused_options().
  if (mode == "ddp" || options.mode == "auto") return;
  for (const std::string& option : exchange_options(options))
    throw UsageError(option + " needs mode ddp; this run uses mode " + mode);
}

void require_sharding_to_fit(const TrainOptions& options) {
  if (options.zero < 2) {
    if (options.offload) throw UsageError("--offload needs --zero 2 or 3");
    return;
  }
  const TrainOptions unset;
  const char* other = options.precision == "fp16"            ? "--precision fp16"
                      : options.compress_gradients != "none" ? "--compress-gradients"
                      : options.find_unused_parameters       ? "--find-unused-parameters"
                      : options.bucket_mb != unset.bucket_mb ? "--bucket-mb"
                                                             : nullptr;
  if (other == nullptr) return;
  throw UsageError(std::string("--zero 2 and 3 cannot be used with ") + other +
                   "; leave it out, or use --zero 1");
}

void require_model_of_task(const TrainOptions& options) {
  const tasks::KnownTask& task = tasks::known_task(options.task);
  const std::vector<std::string> models = tasks::models_of(task);
  if (std::find(models.begin(), models.end(), options.model) == models.end()) {
    throw UsageError("--task " + options.task + " cannot train --model " + options.model +
                     "; it takes " + options::one_of(models));
  }
  if (options.dropout > 0 && task.dropout == 0)
    throw UsageError("--dropout: the models of --task " + options.task + " have none");
  if (task.models == models::Kind::images) {
    if (options.image_size == 0) throw UsageError("--image-size must be at least 8");
    const std::int64_t multiple = models::known_model(options.model).multiple;
    if (options.image_size % multiple == 0) return;
    throw UsageError("--model " + options.model + " needs an --image-size that is a multiple of " +
                     std::to_string(multiple) + ", not " + std::to_string(options.image_size));
  }
  const char* const of_images = options.augment != "none" ? "--augment"
                                : options.mixup > 0       ? "--mixup"
                                : options.image_size > 0  ? "--image-size"
                                                          : nullptr;
  if (of_images == nullptr) return;
  throw UsageError(std::string(of_images) + " is for images; --task " + options.task + " has none");
}

/// What is known of the run's model: defaults if it is one of the task's own.
models::KnownModel known_model(const TrainOptions& options) {
  if (tasks::known_task(options.task).models == models::Kind::of_task) return {options.model};
  return models::known_model(options.model);
}

void require_layers(const TrainOptions& options) {
  if (!options.checkpoint_activations || known_model(options).has_layers) return;
  throw UsageError("--checkpoint-activations cannot be used with --model " + options.model +
                   "; it needs a ResNet or a Vision Transformer, such as resnet50");
}

void require_batch_norms(const TrainOptions& options) {
  const models::KnownModel model = known_model(options);
  const bool is_unknown = tasks::known_task(options.task).models == models::Kind::of_task;
  if (!options.sync_bn || is_unknown || model.has_batch_norms()) return;
  throw UsageError("--sync-bn has no effect on --model " + options.model +
                   ", which has no batch normalisation; leave it out");
}

void require_repeatable(const TrainOptions& options, const std::string& mode, c10::Device device) {
  if (!options.deterministic || mode != "dp" || !device.is_cpu() || options.dropout == 0) return;
  throw UsageError(
      "--deterministic cannot be used with --dropout in mode dp on the CPU: the replicas draw from "
      "one generator, in any order; use --mode ddp, or --dropout 0");
}

void require_recordable(const TrainOptions& options, const std::string& mode,
                        const BatchPlan& batches, c10::Device device) {
  if (!options.cuda_graph) return;
  if (mode != "single") {
    throw UsageError("--cuda-graph needs mode single; this run uses mode " + mode);
  }
  if (batches.micro != batches.local) {
    throw UsageError("--cuda-graph cannot be used with --micro-batch or --accumulate");
  }
  if (options.checkpoint_activations) {
    throw UsageError("--cuda-graph cannot be used with --checkpoint-activations");
  }
  if (tasks::known_task(options.task).models == models::Kind::sequences) {
    throw UsageError("--cuda-graph cannot record --model " + options.model +
                     ": its attention waits for the GPU");
  }
  if (device.is_cuda() && has_cuda_graphs()) return;
  throw Error(
      ErrorCode::backend_unavailable,
      std::string("--cuda-graph ") + (device.is_cuda() ? "with this LibTorch" : "on the CPU"),
      "a CUDA device, and a LibTorch 2.x built for CUDA", "leave it out");
}

}  // namespace

bool has_batch_norms(const TrainOptions& options) {
  return known_model(options).has_batch_norms();
}

void require_batch_norm_to_fit(const TrainOptions& options, std::int64_t smallest_pass) {
  const models::KnownModel model = known_model(options);
  if (!model.has_batch_norms() || options.image_size > model.one_pixel) return;
  if (smallest_pass > 1) return;
  throw Error(
      ErrorCode::invalid_model_use,
      "a pass of 1 image, of which " + options.model + " makes 1 pixel at --image-size " +
          std::to_string(options.image_size) + ": batch normalisation needs 2 values",
      "2 images or more in every pass, also in the last one of an epoch",
      "change --batch-size, --micro-batch or --limit-samples, or use a larger --image-size");
}

std::string unused_options(const TrainOptions& options, const std::string& mode) {
  if (mode == "ddp") return "";
  std::string list;
  for (const std::string& option : exchange_options(options))
    list += (list.empty() ? "" : ", ") + option;
  return list.empty() ? "" : list + ": no effect in mode " + mode + ", which has one rank";
}

void require_fitting_options(const TrainOptions& options, const std::string& mode,
                             const BatchPlan& batches, c10::Device device) {
  require_ddp(options, mode);
  require_exchange(options, mode);
  require_use(options);
  require_scaling_to_fit(options);
  require_sharding_to_fit(options);
  require_model_of_task(options);
  require_layers(options);
  require_batch_norms(options);
  require_repeatable(options, mode, device);
  require_recordable(options, mode, batches, device);
}

}  // namespace hpcboot::train
