#include <array>
#include <cstdint>
#include <string>

#include "hpcboot/torch/estimate.hpp"

// The layers of the trainer's models (models/mnistnet.cpp, models/resnet.cpp): what each
// operation keeps for its backward pass. A convolution, a linear layer and a pooling keep their
// input, a batch norm its input, a ReLU its result, which is the next operation's input. Pooling
// keeps indices of 8 bytes.
namespace hpcboot::estimate {
namespace {

double square(std::int64_t size) {
  return static_cast<double>(size) * static_cast<double>(size);
}

/// A convolution without bias, whose result has `cells` positions.
Amounts convolution(double from, double to, double kernel, double cells) {
  Amounts amounts;
  amounts.parameters = kernel * kernel * from * to;
  amounts.flop = 2 * amounts.parameters * cells;
  return amounts;
}

/// With a batch norm behind it, which keeps the convolution's result.
Amounts normalised(double from, double to, double kernel, double cells) {
  Amounts amounts = convolution(from, to, kernel, cells);
  amounts.parameters += 2 * to;
  amounts.kept = to * cells;
  return amounts;
}

Layer linear(const std::string& name, double from, double to) {
  Layer layer;
  layer.name = name;
  layer.each.parameters = from * to + to;
  layer.each.flop = 2 * from * to;
  layer.output = to;
  layer.each.kept = to;
  return layer;
}

/// @param rows of the block's input, @param stride of its first convolution
Layer basic_block(const std::string& name, double from, double width, std::int64_t rows,
                  std::int64_t stride) {
  const double after = square((rows - 1) / stride + 1);
  Layer layer;
  layer.name = name;
  layer.output = width * after;
  layer.each += normalised(from, width, 3, after);
  layer.each += normalised(width, width, 3, after);
  if (stride != 1 || from != width) layer.each += normalised(from, width, 1, after);
  layer.each.kept += 2 * layer.output;  // the results of the two ReLUs
  layer.each.working = 3 * layer.output;
  return layer;
}

/// @param rows of the block's input, @param stride of its 3x3 convolution
Layer bottleneck(const std::string& name, double from, double width, std::int64_t rows,
                 std::int64_t stride) {
  const double before = square(rows);
  const double after = square((rows - 1) / stride + 1);
  const double to = 4 * width;
  Layer layer;
  layer.name = name;
  layer.output = to * after;
  layer.each += normalised(from, width, 1, before);
  layer.each += normalised(width, width, 3, after);
  layer.each += normalised(width, to, 1, after);
  if (stride != 1 || from != to) layer.each += normalised(from, to, 1, after);
  // The results of the three ReLUs.
  layer.each.kept += width * before + width * after + layer.output;
  // The gradient of the result, which both branches use, and those before and behind a batch norm.
  layer.each.working = 3 * layer.output;
  return layer;
}

Model resnet(const char* name, const std::array<int, 4>& stages, bool bottlenecks,
             std::int64_t channels, std::int64_t size, std::int64_t classes) {
  const std::int64_t stem_rows = (size - 1) / 2 + 1;
  std::int64_t rows = (stem_rows - 1) / 2 + 1;
  Model model;
  model.name = name;
  Layer stem;
  stem.name = "stem";
  stem.output = 64 * square(rows);
  stem.each = normalised(static_cast<double>(channels), 64, 7, square(stem_rows));
  stem.each.kept +=
      static_cast<double>(channels) * square(size) + 64 * square(stem_rows) + stem.output;
  stem.each.kept_bytes = 8 * stem.output;
  stem.each.working = 2 * 64 * square(stem_rows);
  model.layers.push_back(stem);
  double from = 64;
  double width = 64;
  int stage = 1;
  for (const int blocks : stages) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && stage > 1 ? 2 : 1;
      const std::string layer = "layer" + std::to_string(stage) + "." + std::to_string(block);
      model.layers.push_back(bottlenecks ? bottleneck(layer, from, width, rows, stride)
                                         : basic_block(layer, from, width, rows, stride));
      rows = (rows - 1) / stride + 1;
      from = bottlenecks ? 4 * width : width;
    }
    width *= 2;
    ++stage;
  }
  Layer head = linear("fc", from, static_cast<double>(classes));
  head.each.kept += from;
  model.layers.push_back(head);
  return model;
}

}  // namespace

Model mnistnet(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  const double full = square(size);
  const double half = square(size / 2);
  constexpr double kPooled = 7.0 * 7.0;
  Model model;
  model.name = "mnistnet";
  Layer conv1;
  conv1.name = "conv1";
  conv1.each = convolution(static_cast<double>(channels), 32, 3, full);
  conv1.each.parameters += 32;
  conv1.each.kept = static_cast<double>(channels) * full + 32 * full + 32 * half;
  conv1.each.kept_bytes = 8 * 32 * half;
  conv1.each.working = 32 * full;
  conv1.output = 32 * half;
  Layer conv2;
  conv2.name = "conv2";
  conv2.each = convolution(32, 64, 3, half);
  conv2.each.parameters += 64;
  conv2.each.kept = 64 * half + 64 * kPooled;
  conv2.each.working = 2 * 64 * half;
  conv2.output = 64 * kPooled;
  model.layers = {conv1, conv2, linear("fc1", 64 * kPooled, 128),
                  linear("fc2", 128, static_cast<double>(classes))};
  return model;
}

Model resnet18(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  return resnet("resnet18", {2, 2, 2, 2}, /*bottlenecks=*/false, channels, size, classes);
}

Model resnet50(std::int64_t channels, std::int64_t size, std::int64_t classes) {
  return resnet("resnet50", {3, 4, 6, 3}, /*bottlenecks=*/true, channels, size, classes);
}

}  // namespace hpcboot::estimate
