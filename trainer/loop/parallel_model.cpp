#include "loop/parallel_model.hpp"

#include <ATen/Context.h>
#include <torch/nn/modules/conv.h>

#include <utility>

#include "hpcboot/torch/sync_batch_norm.hpp"

namespace hpcboot::train {

namespace {

DistributedDataParallelOptions ddp_options(const TrainOptions& options) {
  DistributedDataParallelOptions ddp;
  ddp.bucket_cap_mb = options.bucket_mb;
  ddp.find_unused_parameters = options.find_unused_parameters;
  ddp.fixed_buckets = options.deterministic;
  if (options.compress_gradients == "bf16")
    ddp.communication_hook = compression_hook(at::kBFloat16);
  if (options.compress_gradients == "fp16") ddp.communication_hook = compression_hook(at::kHalf);
  return ddp;
}

/// LibTorch's convolutions, poolings and batch norms for the CPU and for GPUs are optimised for
/// this memory format of the weights, and their results keep it.
void store_channels_last(models::Model& model) {
  for (torch::Tensor& parameter : model.parameters()) {
    if (parameter.dim() != 4) continue;
    // Not contiguous(): it would consider weights for one channel as already in this format.
    parameter.set_data(parameter.detach().clone(torch::MemoryFormat::ChannelsLast));
  }
}

/// With one thread and fewer than 16 images, LibTorch computes convolutions whose kernels are one
/// weight by BLAS (ConvParams::use_mkldnn() in its Convolution.cpp), image by image. oneDNN, which
/// takes a quarter less time for such a step of ResNet50, computes them if they are dilated;
/// between the weights of a kernel that has one, there is nothing to dilate. A LibTorch without
/// oneDNN would take its slow dilated convolutions instead.
void compute_by_onednn(models::Model& model) {
  if (!at::hasMKLDNN()) return;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    auto* convolution = dynamic_cast<torch::nn::Conv2dImpl*>(module.get());
    if (convolution == nullptr) continue;
    auto& options = convolution->options;
    if (options.kernel_size()->at(0) == 1 && options.kernel_size()->at(1) == 1) options.dilation(2);
  }
}

}  // namespace

ParallelModel::ParallelModel(const TrainOptions& options, const tasks::Task& task,
                             const std::string& mode, const std::vector<torch::Device>& devices,
                             Communicator& communicator)
    : devices_(devices),
      precision_(precision_of(options.precision)),
      type_(precision_ == Precision::fp64 ? torch::kDouble : torch::kFloat) {
  const auto make = [&] {
    auto model = task.make_model();
    model->to(type_);
    store_channels_last(*model);
    if (devices_[0].is_cpu() && precision_ != Precision::fp64) compute_by_onednn(*model);
    return model;
  };
  if (mode == "dp") {
    replicas_.emplace(make, devices);
    model_ = replicas_->module();
    return;
  }
  model_ = make();
  model_->to(device());
  if (mode != "ddp") return;
  if (options.sync_bn) synchronize_batch_norms(*model_, *communicator.group());
  if (options.zero >= 2) {
    FullyShardOptions sharding;
    sharding.reshard_after_forward = options.zero == 3;
    sharding.offload_to_host = options.offload;
    group_ = *communicator.group();
    sharded_ = fully_shard(model_, *group_, sharding);
    contributed_ = group_->contributed_bytes();
    return;
  }
  ranks_.emplace(model_, *communicator.group(), ddp_options(options));
}

models::Inputs ParallelModel::in_own_type(const models::Inputs& inputs) const {
  models::Inputs same;
  for (const torch::Tensor& input : inputs)
    same.push_back(input.is_floating_point() ? input.to(type_) : input);
  return same;
}

torch::Tensor ParallelModel::forward(const models::Inputs& inputs) {
  if (!sharded_ && !ranks_) return infer(inputs);
  const Autocast autocast(precision_, device());
  if (!sharded_) return ranks_->forward(in_own_type(inputs)).to(type_);
  torch::Tensor output = sharded_->forward(in_own_type(inputs)).to(type_);
  waited_ = sharded_->seconds_waited();
  return output;
}

torch::Tensor ParallelModel::infer(const models::Inputs& inputs) {
  const Autocast autocast(precision_, device());
  const models::Inputs own = in_own_type(inputs);
  return (replicas_ ? replicas_->forward(own) : model_->forward(own)).to(type_);
}

double ParallelModel::exchange_seconds(std::chrono::steady_clock::time_point end) {
  if (sharded_) return sharded_->seconds_waited() - waited_;
  if (!ranks_) return 0;
  const ExchangeStatistics& exchange = ranks_->statistics();
  if (exchange.exchanges == std::exchange(exchanges_, exchange.exchanges)) return 0;
  return std::chrono::duration<double>(end - exchange.last_gradient).count();
}

std::int64_t ParallelModel::bytes_of_exchange() {
  if (sharded_) {
    const std::int64_t now = group_->contributed_bytes();
    return now - std::exchange(contributed_, now);
  }
  return ranks_ ? ranks_->statistics().bytes : 0;
}

std::optional<WholeParameters> ParallelModel::keep_whole() {
  if (!sharded_) return std::nullopt;
  return sharded_->keep_whole();
}

void ParallelModel::zero_grad() {
  torch::nn::Module& trained = sharded_ ? static_cast<torch::nn::Module&>(*sharded_) : *model_;
  trained.zero_grad(/*set_to_none=*/true);
}

}  // namespace hpcboot::train
