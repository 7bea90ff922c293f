#include "tasks/image_classification.hpp"

#include <fmt/format.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/functional/upsampling.h>

#include <algorithm>
#include <string>
#include <utility>

#include "datasets/formats.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tasks {
namespace {

constexpr std::int64_t kCropPadding = 4;  // as usual for images of 32 x 32 pixels

torch::Tensor channel_values(const std::vector<float>& values, const torch::Tensor& like) {
  return torch::tensor(values, like.options())
      .view({1, static_cast<std::int64_t>(values.size()), 1, 1});
}

std::string list_of(const std::vector<float>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

void require_channels(const data::Dataset& set, const data::Normalization& normalization,
                      const train::TrainOptions& options) {
  const std::size_t wanted = normalization.mean.size();
  if (wanted == 1 || set.shape().channels == static_cast<std::int64_t>(wanted)) return;
  throw Error(ErrorCode::malformed_data,
              fmt::format("'{}': images of {}", options.data, to_string(set.shape())),
              fmt::format("{} channels, for --task {}", wanted, options.task),
              "name a set of such images, or use --task mnist, which takes any number of channels");
}

/// An image whose pixels are bytes is divided by 255 first; floats are taken as they are.
std::string warning_about(const data::Dataset& set, const train::TrainOptions& options) {
  const auto range = data::unusual_pixels(set);
  if (!range) return "";
  if (range->has_nan)
    return fmt::format("pixels of '{}' are NaN, and so will be the loss", options.data);
  return fmt::format(
      "the pixels of '{}' are from {:.3g} to {:.3g}, but floats are expected from 0 to 1: --task "
      "{} subtracts the mean and divides by the standard deviation of such images",
      options.data, range->least, range->greatest, options.task);
}

}  // namespace

struct ImageClassification::Data {
  std::shared_ptr<const data::Dataset> train, test;
  std::int64_t classes = 0;
  data::ImageOptions images;
  std::string warning;

  std::unique_ptr<const data::Samples> train_samples() const {
    return std::make_unique<data::ImageSamples>(train, images);
  }
  std::unique_ptr<const data::Samples> validation_samples() const {
    data::ImageOptions unchanged = images;
    unchanged.augmentation = {};
    return std::make_unique<data::ImageSamples>(test, unchanged);
  }

  static Data open(const train::TrainOptions& options,
                   data::Normalization (*normalization)(std::int64_t classes),
                   torch::Device device) {
    Data data;
    data.train = data::open_dataset(options.data, data::Split::train, options.limit_samples);
    data.test = data::open_dataset(options.data, data::Split::test, options.limit_samples);
    data::check_splits(*data.train, *data.test, options.data);
    data.warning = warning_about(*data.train, options);
    data.images.size = options.image_size;
    data.classes = std::max(data.train->classes(), data.test->classes());
    data.images.normalization = normalization(data.classes);
    require_channels(*data.train, data.images.normalization, options);
    data.images.pixels = device.is_cuda();
    if (options.augment == "crop-flip") {
      data.images.augmentation.padding = kCropPadding;
      data.images.augmentation.flip = true;
    }
    data.images.augmentation.mixup = options.mixup;
    data.images.augmentation.seed = options.seed;
    return data;
  }
};

ImageClassification::ImageClassification(const train::TrainOptions& options,
                                         data::Normalization (*normalization)(std::int64_t classes),
                                         torch::Device device)
    : ImageClassification(options, Data::open(options, normalization, device)) {}

ImageClassification::ImageClassification(const train::TrainOptions& options, Data data)
    : Task(data.train_samples(), data.validation_samples()),
      model_(options.model),
      checkpointed_(options.checkpoint_activations),
      channels_(data.train->shape().channels),
      classes_(data.classes),
      images_(std::move(data.images)),
      warning_(std::move(data.warning)) {}

std::shared_ptr<models::Model> ImageClassification::make_model() const {
  return models::make_model(model_, {channels_, classes_, images_.size, checkpointed_});
}

Example ImageClassification::prepare(std::vector<torch::Tensor> parts) const {
  torch::Tensor images = std::move(parts[0]);
  torch::Tensor target = std::move(parts[1]);
  if (images_.pixels) images = images_of(images, images_.size, images_.normalization);
  if (parts.size() == 2) return {std::move(images), std::move(target)};
  // Mix-up: the target becomes the probability of each class.
  const torch::Tensor& others = parts[2];
  const torch::Tensor weights = parts[3].to(images.scalar_type());
  const torch::Tensor of_image = weights.view({-1, 1, 1, 1});
  images = images * of_image + images.index_select(0, others) * (1 - of_image);
  const torch::Tensor classes = torch::one_hot(target, classes_).to(weights.scalar_type());
  const torch::Tensor of_target = weights.view({-1, 1});
  target = classes * of_target + classes.index_select(0, others) * (1 - of_target);
  return {std::move(images), std::move(target)};
}

torch::Tensor ImageClassification::loss(const torch::Tensor& output,
                                        const torch::Tensor& target) const {
  return torch::nn::functional::cross_entropy(output, target);
}

torch::Tensor ImageClassification::tally(const torch::Tensor& output,
                                         const torch::Tensor& target) const {
  return torch::stack({output.argmax(1).eq(target).sum(),
                       torch::full({}, output.size(0), output.options().dtype(torch::kInt64))});
}

std::vector<record::Measure> ImageClassification::measures(const torch::Tensor& tally) const {
  return {{"accuracy", tally[0].item<double>() / tally[1].item<double>(), true}};
}

std::map<std::string, std::string> ImageClassification::metadata() const {
  return {{"model", model_},
          {"channels", std::to_string(channels_)},
          {"classes", std::to_string(classes_)},
          {"image_size", std::to_string(images_.size)},
          {"mean", list_of(images_.normalization.mean)},
          {"std", list_of(images_.normalization.std)}};
}

torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size,
                        const data::Normalization& normalization) {
  torch::Tensor images = pixels.to(torch::kFloat32);
  if (pixels.scalar_type() == torch::kUInt8) images = images / 255;
  images = (images - channel_values(normalization.mean, images)) /
           channel_values(normalization.std, images);
  if (images.size(2) == image_size && images.size(3) == image_size) return images;
  namespace functional = torch::nn::functional;
  return functional::interpolate(images,
                                 functional::InterpolateFuncOptions()
                                     .size(std::vector<std::int64_t>{image_size, image_size})
                                     .mode(torch::kBilinear)
                                     .align_corners(false));
}

}  // namespace hpcboot::tasks
