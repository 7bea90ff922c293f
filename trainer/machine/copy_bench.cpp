#include <torch/utils.h>

#include "machine/benches.hpp"
#include "machine/data_sheet.hpp"

namespace hpcboot::machine {
namespace {

/// A copy from one kind of memory to another.
struct Direction {
  const char* name;
  bool from_gpu;
  bool to_gpu;
  bool is_pinned;  ///< host memory that the device reaches directly
};

constexpr Direction kOnCpu[] = {{"host to host", false, false, false}};
constexpr Direction kOnGpu[] = {{"within device", true, true, false},
                                {"host to device", false, true, false},
                                {"pinned host to device", false, true, true},
                                {"device to host", true, false, false},
                                {"device to pinned host", true, false, true}};

torch::Tensor made(std::int64_t bytes, bool on_gpu, bool is_pinned, torch::Device device) {
  const auto options = torch::dtype(torch::kUInt8);
  if (on_gpu) return torch::ones({bytes}, options.device(device));
  return torch::ones({bytes}, options.pinned_memory(is_pinned));
}

}  // namespace

BenchResult copy_bench(const Bench& bench) {
  const torch::NoGradGuard no_grad;
  BenchResult result;
  result.columns = {"copy", "size"};
  result.note = "GB/s: bytes read and written within one memory; bytes transferred between two.";
  const std::vector<Direction> directions =
      bench.device.is_cuda() ? std::vector<Direction>(std::begin(kOnGpu), std::end(kOnGpu))
                             : std::vector<Direction>(std::begin(kOnCpu), std::end(kOnCpu));
  for (const Direction& direction : directions) {
    for (const std::int64_t kib : {64, 1024, 16384, 131072}) {
      const std::int64_t bytes = kib << 10;
      const torch::Tensor from = made(bytes, direction.from_gpu, direction.is_pinned, bench.device);
      torch::Tensor to = made(bytes, direction.to_gpu, direction.is_pinned, bench.device);
      const bool is_within = direction.from_gpu == direction.to_gpu;
      BenchRow row;
      row.what = {direction.name, size_text(bytes)};
      row.size = static_cast<double>(bytes);
      row.bytes = (is_within ? 2.0 : 1.0) * static_cast<double>(bytes);
      // Less fits in a cache.
      constexpr std::int64_t kBeyondCaches = std::int64_t{128} << 20;
      if (direction.from_gpu && direction.to_gpu && bytes >= kBeyondCaches)
        row.promised = promised_bandwidth(bench.device_name);
      row.timing = bench.watch.measure([&] { to.copy_(from, direction.is_pinned); });
      result.rows.push_back(row);
    }
  }
  return result;
}

}  // namespace hpcboot::machine
