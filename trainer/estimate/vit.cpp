#include <cstdint>
#include <string>

#include "hpcboot/torch/estimate.hpp"
#include "torch/refusal.hpp"

// The trainer's Vision Transformers (models/vit.cpp). Attention is counted as that of
// LibTorch 1.13, which keeps the scores; the fused kernels of 2.x do not.
namespace hpcboot::estimate {
namespace {

constexpr std::int64_t kPatch = 16;

Model vit(const char* name, std::int64_t hidden, std::int64_t heads, std::int64_t channels,
          std::int64_t size, std::int64_t classes) {
  if (size < kPatch || size % kPatch != 0) {
    refuse(std::string(name) + " for images of " + std::to_string(size) + " pixels",
           "a multiple of 16 pixels");
  }
  const std::int64_t rows = size / kPatch;
  Transformer shape;
  shape.name = name;
  shape.blocks = 12;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.sequence = rows * rows + 1;  // a class token, and the patches
  shape.vocabulary = 1;              // replaced below
  Model model = transformer(shape);
  model.tokens = 1;  // a sample is an image

  const auto width = static_cast<double>(hidden);
  const auto tokens = static_cast<double>(shape.sequence);
  const auto pixels = static_cast<double>(channels * kPatch * kPatch);  // of a patch
  Layer patches;
  patches.name = "patches";
  // A convolution with a bias; the class token; the embedding of positions.
  patches.each.parameters = pixels * width + width + width + tokens * width;
  patches.each.flop = 2 * pixels * width * (tokens - 1);
  // The images, and the sum that the first block keeps.
  patches.output = tokens * width;
  patches.each.kept = pixels * (tokens - 1) + patches.output;
  patches.each.working = patches.output;
  model.layers.front() = patches;

  const auto scores = static_cast<double>(classes);
  Layer head;
  head.name = "head";
  head.each.parameters = 2 * width + width * scores + scores;
  head.each.flop = 2 * width * scores;
  head.each.kept = patches.output + scores;
  head.each.kept_bytes = 2 * 4 * tokens;  // mean and deviation of the normalisation
  head.each.working = 2 * patches.output;
  head.output = scores;
  model.layers.back() = head;
  return model;
}

}  // namespace

Model vit_b_16(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  return vit("vit_b_16", 768, 12, channels, size, classes);
}

Model vit_s_16(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  return vit("vit_s_16", 384, 6, channels, size, classes);
}

Model vit_ti_16(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  return vit("vit_ti_16", 192, 3, channels, size, classes);
}

}  // namespace hpcboot::estimate
