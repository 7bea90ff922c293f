#include "hpcboot/torch/sync_batch_norm.hpp"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <array>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The dimensions of {batch, channels, …} that the statistics are computed over.
std::vector<std::int64_t> all_but_channels(const Tensor& input) {
  std::vector<std::int64_t> dimensions{0};
  for (std::int64_t i = 2; i < input.dim(); ++i) dimensions.push_back(i);
  return dimensions;
}

/// One value for each channel, reshaped to broadcast over the input.
Tensor per_channel(const Tensor& values, const Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = -1;
  return values.view(shape);
}

struct Moments {
  Tensor mean;
  Tensor variance;  ///< divided by the number of elements, not by that number less one
  Tensor count;     ///< elements per channel over all ranks
};

/// Per channel, over all ranks, in double precision. Mean and variance of each rank are exact to
/// their own precision, and combining them in double that precision adds no error; sums of squares
/// over the whole batch in float32 would.
Moments moments_of(const Tensor& input, const ProcessGroup& group) {
  const std::int64_t channels = input.size(1);
  const std::int64_t count = input.numel() / std::max<std::int64_t>(channels, 1);
  Tensor sums = torch::zeros({2 * channels + 1}, input.options().dtype(torch::kFloat64));
  if (count > 0) {
    auto [variance, mean] = at::var_mean(input, all_but_channels(input), /*unbiased=*/false);
    mean = mean.to(torch::kFloat64);
    sums.narrow(0, 0, channels).copy_(mean * count);
    sums.narrow(0, channels, channels).copy_((variance + mean * mean) * count);
    sums.narrow(0, 2 * channels, 1).fill_(count);
  }
  all_reduce(group, sums).wait();
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
                        const Tensor& count, double epsilon,
                        const c10::intrusive_ptr<GroupHolder>& group) {
    context->save_for_backward({input, weight, mean, (variance + epsilon).rsqrt(), count});
    context->saved_data["group"] = c10::IValue::make_capsule(group);
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
    const auto held = context->saved_data["group"].toCapsule();
    const ProcessGroup& group = static_cast<GroupHolder&>(*held).group;
    const Tensor gradient = gradients[0].contiguous();

    const std::int64_t channels = input.size(1);
    const std::vector<std::int64_t> dimensions = all_but_channels(input);
    const Tensor centered = input - per_channel(mean, input);
    const Tensor sum = gradient.sum(dimensions);
    const Tensor sum_with_input = (gradient * centered).sum(dimensions);
    Tensor sums = torch::cat({sum, sum_with_input}).to(torch::kFloat64);
    all_reduce(group, sums).wait();
    sums = (sums / count).to(input.scalar_type());

    const Tensor slope = sums.narrow(0, channels, channels) * inverse_deviation.square();
    Tensor of_input = gradient - per_channel(sums.narrow(0, 0, channels), input);
    of_input.addcmul_(centered, per_channel(slope, input), -1);
    const Tensor scale = weight.defined() ? weight * inverse_deviation : inverse_deviation;
    of_input.mul_(per_channel(scale, input));
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

/// Whether this is one of LibTorch's batch norms.
bool is_plain_norm(const torch::nn::Module& module) {
  return module.as<torch::nn::BatchNorm1dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm2dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm3dImpl>() != nullptr;
}

}  // namespace

void SynchronizedNorm::check_dimensions(const Tensor& input, std::size_t spatial) {
  static constexpr std::array<const char*, 3> kShapes{
      "{batch, features} or {batch, channels, length}", "{batch, channels, height, width}",
      "{batch, channels, depth, height, width}"};
  const auto expected = static_cast<std::int64_t>(spatial) + 2;
  TORCH_CHECK(input.dim() == expected || (spatial == 1 && input.dim() == 2), "BatchNorm", spatial,
              "d expects ", kShapes.at(spatial - 1), ", not ", input.dim(), " dimensions");
}

Tensor SynchronizedNorm::normalize(const Tensor& given, const Layer& layer) const {
  if (!is_synchronized() || !layer.training) {
    return torch::nn::functional::detail::batch_norm(
        given, layer.running_mean, layer.running_var, layer.weight, layer.bias,
        layer.training || !layer.running_mean.defined(), layer.momentum, layer.eps);
  }
  // Statistics of a batch in half precision are computed in float32, as in LibTorch.
  const bool narrow = given.scalar_type() == at::kHalf || given.scalar_type() == at::kBFloat16;
  const Tensor input = (narrow ? given.to(torch::kFloat32) : given).contiguous();
  Moments all;
  {
    const torch::NoGradGuard no_grad;
    all = moments_of(input, group_->group);
    if (layer.running_mean.defined()) {
      const Tensor unbiased = all.variance * (all.count / (all.count - 1).clamp_min(1));
      layer.running_mean.lerp_(all.mean.to(layer.running_mean.scalar_type()), layer.momentum);
      layer.running_var.lerp_(unbiased.to(layer.running_var.scalar_type()), layer.momentum);
    }
    all.mean = all.mean.to(input.scalar_type());
    all.variance = all.variance.to(input.scalar_type());
  }
  const Tensor output = Normalization::apply(input, layer.weight, layer.bias, all.mean,
                                             all.variance, all.count, layer.eps, group_);
  return narrow ? output.to(given.scalar_type()) : output;
}

bool has_synchronized_norms(const torch::nn::Module& module) {
  for (const auto& layer : module.modules()) {
    const auto* const norm = dynamic_cast<const SynchronizedNorm*>(layer.get());
    if (norm != nullptr && norm->is_synchronized()) return true;
  }
  return false;
}

std::size_t synchronize_batch_norms(torch::nn::Module& module, ProcessGroup& group) {
  std::size_t count = 0;
  for (const auto& item : module.named_modules()) {
    if (auto* const norm = dynamic_cast<SynchronizedNorm*>(item.value().get())) {
      norm->synchronize(group);
      ++count;
    } else if (is_plain_norm(*item.value())) {
      throw Error(
          ErrorCode::invalid_model_use,
          "'" + item.key() + "' is a " + item.value()->name() + ", which cannot be synchronised",
          "hpcboot::BatchNorm1d, BatchNorm2d and BatchNorm3d throughout the model",
          "declare it as hpcboot's (hpcboot/torch/sync_batch_norm.hpp); it has the same "
          "options and state");
    }
  }
  return count;
}

}  // namespace hpcboot
