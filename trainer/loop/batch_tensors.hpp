#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "datasets/batch_loader.hpp"

namespace hpcboot::train {

/// How batches are to be loaded for that device: a GPU gets pixels, and makes images of them
/// itself.
data::LoaderOptions loader_options(int threads, torch::Device device);

/// The images and labels of a batch on the device. On the CPU images that are ready are the batch's
/// memory; on a GPU the copies have begun, from memory of their own, so that the batch is free
/// again.
std::pair<torch::Tensor, torch::Tensor> tensors_of(data::Batch& batch, std::int64_t image_size,
                                                   torch::Device device);

/// What data::ImageTransform makes of images, on the device where they are.
/// @param pixels N x C x H x W, bytes from 0 to 255 or floats from 0 to 1
torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size);

}  // namespace hpcboot::train
