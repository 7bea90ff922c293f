#include <torch/utils.h>

#include "hpcboot/torch/precision.hpp"
#include "machine/benches.hpp"
#include "machine/data_sheet.hpp"

namespace hpcboot::machine {

BenchResult matmul_bench(const Bench& bench) {
  const torch::NoGradGuard no_grad;
  BenchResult result;
  result.columns = {"dtype", "size"};
  result.note =
      "Products of two square matrices of this size: 2 size³ operations. Inputs are in the "
      "device's "
      "memory.";
  const std::vector<std::int64_t> sizes =
      bench.device.is_cuda() ? std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}
                             : std::vector<std::int64_t>{128, 256, 512, 1024};
  for (const MeasuredType& type : types_of(bench.device)) {
    use_precision(std::string(type.name) == "tf32" ? Precision::tf32 : Precision::fp32,
                  bench.device);
    for (const std::int64_t size : sizes) {
      const auto options = torch::dtype(type.type).device(bench.device);
      const torch::Tensor a = torch::randn({size, size}, torch::device(bench.device)).to(options);
      const torch::Tensor b = torch::randn({size, size}, torch::device(bench.device)).to(options);
      torch::Tensor c = torch::empty({size, size}, options);
      BenchRow row;
      row.what = {type.name, std::to_string(size)};
      row.size = static_cast<double>(size);
      row.flop = 2 * row.size * row.size * row.size;
      row.promised = promised_flops(bench.device_name, type.name);
      row.timing = bench.watch.measure([&] { torch::mm_out(c, a, b); });
      result.rows.push_back(row);
    }
  }
  return result;
}

}  // namespace hpcboot::machine
