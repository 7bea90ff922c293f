#include "loop/batch_tensors.hpp"

#include <torch/nn/functional/upsampling.h>

#include <vector>

namespace hpcboot::train {
namespace {

/// The memory may be reused after this call. A GPU copies from pinned memory while the host
/// continues; LibTorch keeps that pinned memory until the copy is done.
torch::Tensor sent(const torch::Tensor& memory, torch::Device device) {
  if (device.is_cuda()) return memory.pin_memory().to(device, /*non_blocking=*/true);
  return memory.to(device);
}

}  // namespace

data::LoaderOptions loader_options(int threads, torch::Device device) {
  data::LoaderOptions options;
  options.threads = threads;
  options.pixels = device.is_cuda();
  return options;
}

torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size) {
  torch::Tensor images = pixels.to(torch::kFloat32);
  if (pixels.scalar_type() == torch::kUInt8) images = images / 255;
  images = (images - data::kMnistMean) / data::kMnistStd;
  if (images.size(2) == image_size && images.size(3) == image_size) return images;
  namespace functional = torch::nn::functional;
  return functional::interpolate(images,
                                 functional::InterpolateFuncOptions()
                                     .size(std::vector<std::int64_t>{image_size, image_size})
                                     .mode(torch::kBilinear)
                                     .align_corners(false));
}

std::pair<torch::Tensor, torch::Tensor> tensors_of(data::Batch& batch, std::int64_t image_size,
                                                   torch::Device device) {
  const torch::Tensor labels =
      sent(torch::from_blob(batch.labels.data(), {batch.size}, torch::kInt64), device);
  if (batch.pixels.empty()) {
    return {sent(torch::from_blob(batch.images.data(),
                                  {batch.size, batch.channels, image_size, image_size},
                                  torch::kFloat32),
                 device),
            labels};
  }
  const auto type = batch.pixel_type == data::PixelType::u8 ? torch::kUInt8 : torch::kFloat32;
  const auto& shape = batch.shape;
  const torch::Tensor pixels = torch::from_blob(
      batch.pixels.data(), {batch.size, shape.channels, shape.rows, shape.cols}, type);
  return {images_of(sent(pixels, device), image_size), labels};
}

}  // namespace hpcboot::train
