// Runs the GPU's conversion of pixels on the CPU, and compares it with the loader's images.
#include "loop/batch_tensors.hpp"

#include <gtest/gtest.h>

#include "datasets/formats.hpp"

namespace hpcboot::train {
namespace {

const torch::Device kCpu(torch::kCPU);

std::pair<torch::Tensor, torch::Tensor> first_batch(const data::Dataset& set, bool pixels,
                                                    std::int64_t image_size) {
  data::LoaderOptions options = loader_options(1, kCpu);
  options.pixels = pixels;
  data::BatchLoader loader(set, {3, 0, 4}, 3, image_size, options);
  data::Batch batch;
  EXPECT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.pixels.empty(), !pixels);
  const auto [images, labels] = tensors_of(batch, image_size, kCpu);
  return {images.clone(), labels.clone()};
}

TEST(BatchTensors, OfPixelsAreThoseOfImages) {
  for (const char* name : {"synthetic:5x1x28x28", "synthetic:5x3x32x20"}) {
    const auto set = data::open_dataset(name, data::Split::train, 0);
    for (const std::int64_t size : {28, 32, 128, 11}) {
      const auto [images, labels] = first_batch(*set, false, size);
      const auto [made, same_labels] = first_batch(*set, true, size);
      EXPECT_EQ(made.sizes(), images.sizes());
      EXPECT_LT((made - images).abs().max().item<float>(), 1e-5F) << name << " at " << size;
      EXPECT_TRUE(same_labels.equal(labels));
    }
  }
}

TEST(BatchTensors, FloatsAreNotScaledAgain) {
  const torch::Tensor bytes = torch::arange(256).to(torch::kUInt8).view({1, 1, 16, 16});
  const torch::Tensor floats = bytes.to(torch::kFloat32) / 255;
  EXPECT_LT((images_of(floats, 16) - images_of(bytes, 16)).abs().max().item<float>(), 1e-6F);
}

TEST(BatchTensors, AreMadeByAGpuFromPixels) {
  EXPECT_TRUE(loader_options(2, torch::Device(torch::kCUDA, 0)).pixels);
  EXPECT_FALSE(loader_options(2, kCpu).pixels);
  EXPECT_EQ(loader_options(2, kCpu).threads, 2);
}

}  // namespace
}  // namespace hpcboot::train
