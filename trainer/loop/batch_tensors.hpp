#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "datasets/batch_loader.hpp"

namespace hpcboot::train {

/// How to load batches for this device: a GPU gets raw pixels and converts them to images itself.
data::LoaderOptions loader_options(int threads, torch::Device device);

/// The images and labels of a batch on the device. On the CPU, converted images share the batch's
/// memory; on a GPU, the copies have been started from separate memory, so the batch can be reused.
std::pair<torch::Tensor, torch::Tensor> tensors_of(data::Batch& batch, std::int64_t image_size,
                                                   torch::Device device);

/// Applies the conversion of data::ImageTransform on the device of the pixels.
/// @param pixels N x C x H x W, bytes from 0 to 255 or floats from 0 to 1
torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size);

}  // namespace hpcboot::train
