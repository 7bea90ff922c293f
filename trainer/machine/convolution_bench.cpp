#include <fmt/format.h>
#include <torch/nn/functional/conv.h>
#include <torch/utils.h>

#include "hpcboot/torch/precision.hpp"
#include "machine/benches.hpp"
#include "machine/data_sheet.hpp"

namespace hpcboot::machine {
namespace {

/// A convolution of ResNet50 on images of 128 x 128 pixels.
struct Layer {
  const char* name;
  std::int64_t in, out, kernel, stride, side;  ///< side of its input
};

constexpr Layer kLayers[] = {{"conv1 7x7", 3, 64, 7, 2, 128},    {"layer1 3x3", 64, 64, 3, 1, 32},
                             {"layer2 3x3", 128, 128, 3, 1, 16}, {"layer3 3x3", 256, 256, 3, 1, 8},
                             {"layer3 1x1", 1024, 256, 1, 1, 8}, {"layer4 3x3", 512, 512, 3, 1, 4}};

BenchRow measure(const Bench& bench, const Layer& layer, const MeasuredType& type,
                 torch::MemoryFormat format, std::int64_t batch) {
  const auto made = [&](std::vector<std::int64_t> shape) {
    return torch::randn(shape, torch::device(bench.device)).to(type.type).contiguous(format);
  };
  const torch::Tensor images = made({batch, layer.in, layer.side, layer.side});
  const torch::Tensor weights = made({layer.out, layer.in, layer.kernel, layer.kernel});
  const auto options =
      torch::nn::functional::Conv2dFuncOptions().stride(layer.stride).padding(layer.kernel / 2);
  const std::int64_t side = layer.side / layer.stride;
  BenchRow row;
  row.what = {layer.name, type.name, format == torch::MemoryFormat::Contiguous ? "NCHW" : "NHWC",
              std::to_string(batch)};
  row.size = static_cast<double>(batch);
  row.flop = 2.0 * static_cast<double>(batch * layer.out * side * side) *
             static_cast<double>(layer.in * layer.kernel * layer.kernel);
  row.promised = promised_flops(bench.device_name, type.name);
  row.timing =
      bench.watch.measure([&] { torch::nn::functional::conv2d(images, weights, options); });
  return row;
}

}  // namespace

BenchResult convolution_bench(const Bench& bench) {
  const torch::NoGradGuard no_grad;
  BenchResult result;
  result.columns = {"layer", "dtype", "layout", "batch"};
  result.note =
      "Forward passes of ResNet50's convolutions for images of 128 px, two operations for each "
      "multiplication and addition; NHWC is channels_last.";
  const std::vector<std::int64_t> batches = bench.device.is_cuda()
                                                ? std::vector<std::int64_t>{64, 256}
                                                : std::vector<std::int64_t>{8, 32};
  for (const Layer& layer : kLayers) {
    for (const MeasuredType& type : types_of(bench.device)) {
      use_precision(std::string(type.name) == "tf32" ? Precision::tf32 : Precision::fp32,
                    bench.device);
      for (const auto format :
           {torch::MemoryFormat::Contiguous, torch::MemoryFormat::ChannelsLast}) {
        for (const std::int64_t batch : batches)
          result.rows.push_back(measure(bench, layer, type, format, batch));
      }
    }
  }
  return result;
}

}  // namespace hpcboot::machine
