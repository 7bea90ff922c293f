#include "hpcboot/torch/sync_batch_norm.hpp"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Batch, height and width of {batch, channels, height, width}.
const std::vector<std::int64_t> kAllButChannels{0, 2, 3};

/// Reshaped to broadcast over a tensor of four dimensions.
Tensor per_channel(const Tensor& values) {
  return values.view({1, -1, 1, 1});
}

struct Moments {
  Tensor mean;
  Tensor variance;  ///< divided by the number of elements, not by that number less one
  Tensor count;     ///< elements per channel over all ranks
};

/// Per channel, over all ranks, in double precision. Mean and variance of each rank are exact to
/// their own precision, and combining them in double that precision adds no error; sums of squares
/// over the whole batch in float32 would.
Moments moments_of(const Tensor& input, ProcessGroup& group) {
  const std::int64_t channels = input.size(1);
  const std::int64_t count = input.numel() / std::max<std::int64_t>(channels, 1);
  Tensor sums = torch::zeros({2 * channels + 1}, input.options().dtype(torch::kFloat64));
  if (count > 0) {
    auto [variance, mean] = at::var_mean(input, kAllButChannels, /*unbiased=*/false);
    mean = mean.to(torch::kFloat64);
    sums.narrow(0, 0, channels).copy_(mean * count);
    sums.narrow(0, channels, channels).copy_((variance + mean * mean) * count);
    sums.narrow(0, 2 * channels, 1).fill_(count);
  }
  all_reduce_sum(group, sums);
  Moments all;
  all.count = sums.narrow(0, 2 * channels, 1);
  all.mean = sums.narrow(0, 0, channels) / all.count;
  all.variance =
      (sums.narrow(0, channels, channels) / all.count - all.mean * all.mean).clamp_min(0);
  return all;
}

struct Normalization : torch::autograd::Function<Normalization> {
  /// @param count a tensor, so that save_for_backward() can take it
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Tensor& mean, const Tensor& variance,
                        const Tensor& count, double epsilon, std::int64_t group) {
    context->save_for_backward({input, weight, mean, (variance + epsilon).rsqrt(), count});
    context->saved_data["group"] = group;
    // LibTorch divides by the size of the batch, which may be 0 on a rank.
    if (input.numel() == 0) return torch::empty_like(input);
    // The evaluation mode normalises by given statistics, in one pass.
    return std::get<0>(at::native_batch_norm(input, weight, bias, mean, variance,
                                             /*training=*/false, /*momentum=*/0, epsilon));
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& input = saved[0];
    const Tensor& weight = saved[1];
    const Tensor& mean = saved[2];
    const Tensor& inverse_deviation = saved[3];
    const Tensor& count = saved[4];
    auto& group = *reinterpret_cast<ProcessGroup*>(context->saved_data["group"].toInt());
    const Tensor gradient = gradients[0].contiguous();

    const std::int64_t channels = input.size(1);
    const Tensor centered = input - per_channel(mean);
    const Tensor sum = gradient.sum(kAllButChannels);
    const Tensor sum_with_input = (gradient * centered).sum(kAllButChannels);
    Tensor sums = torch::cat({sum, sum_with_input}).to(torch::kFloat64);
    all_reduce_sum(group, sums);
    sums = (sums / count).to(input.scalar_type());

    const Tensor slope = sums.narrow(0, channels, channels) * inverse_deviation.square();
    Tensor of_input = gradient - per_channel(sums.narrow(0, 0, channels));
    of_input.addcmul_(centered, per_channel(slope), -1);
    of_input.mul_(per_channel(weight.defined() ? weight * inverse_deviation : inverse_deviation));
    variable_list result(8);
    result[0] = of_input;
    // The gradients of this rank's part: DistributedDataParallel averages them like all others.
    if (weight.defined()) {
      result[1] = sum_with_input * inverse_deviation;
      result[2] = sum;
    }
    return result;
  }
};

}  // namespace

void BatchNorm2dImpl::_check_input_dim(const Tensor& input) {
  TORCH_CHECK(input.dim() == 4, "BatchNorm2d expects {batch, channels, height, width}, not ",
              input.dim(), " dimensions");
}

void BatchNorm2dImpl::pretty_print(std::ostream& stream) const {
  stream << "hpcboot::BatchNorm2d(" << options.num_features() << ", eps=" << options.eps()
         << (group_ != nullptr ? ", synchronised)" : ")");
}

Tensor BatchNorm2dImpl::forward(const Tensor& given) {
  _check_input_dim(given);
  double momentum = options.momentum().value_or(0);
  if (is_training() && num_batches_tracked.defined()) {
    num_batches_tracked += 1;
    if (!options.momentum()) momentum = 1 / num_batches_tracked.item<double>();
  }
  if (group_ == nullptr || !is_training()) {
    return torch::nn::functional::detail::batch_norm(
        given, running_mean, running_var, weight, bias,
        is_training() || !options.track_running_stats(), momentum, options.eps());
  }
  // Statistics of a batch in half precision are computed in float32, as in LibTorch.
  const bool narrow = given.scalar_type() == at::kHalf || given.scalar_type() == at::kBFloat16;
  const Tensor input = (narrow ? given.to(torch::kFloat32) : given).contiguous();
  Moments all;
  {
    const torch::NoGradGuard no_grad;
    all = moments_of(input, *group_);
    if (running_mean.defined()) {
      const Tensor unbiased = all.variance * (all.count / (all.count - 1).clamp_min(1));
      running_mean.lerp_(all.mean.to(running_mean.scalar_type()), momentum);
      running_var.lerp_(unbiased.to(running_var.scalar_type()), momentum);
    }
    all.mean = all.mean.to(input.scalar_type());
    all.variance = all.variance.to(input.scalar_type());
  }
  const Tensor output = Normalization::apply(input, weight, bias, all.mean, all.variance, all.count,
                                             options.eps(), reinterpret_cast<std::int64_t>(group_));
  return narrow ? output.to(given.scalar_type()) : output;
}

std::size_t synchronize_batch_norms(torch::nn::Module& module, ProcessGroup& group) {
  std::size_t count = 0;
  for (const auto& item : module.named_modules()) {
    if (auto* const norm = item.value()->as<BatchNorm2dImpl>()) {
      norm->synchronize(group);
      ++count;
    } else if (item.value()->as<torch::nn::BatchNorm2dImpl>() != nullptr) {
      throw Error(ErrorCode::invalid_model_use,
                  "'" + item.key() + "' is a torch::nn::BatchNorm2d, which cannot be synchronised",
                  "hpcboot::BatchNorm2d throughout the model",
                  "declare it as hpcboot::BatchNorm2d (hpcboot/torch/sync_batch_norm.hpp); it has "
                  "the same options and state");
    }
  }
  return count;
}

}  // namespace hpcboot
