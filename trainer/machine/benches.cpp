#include "machine/benches.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <fstream>

#include "core/counted.hpp"
#include "loop/devices.hpp"

namespace hpcboot::machine {

BenchResult run_bench(const std::string& kind, const Bench& bench) {
  BenchResult result = kind == "allreduce"     ? all_reduce_bench(bench)
                       : kind == "matmul"      ? matmul_bench(bench)
                       : kind == "convolution" ? convolution_bench(bench)
                       : kind == "layernorm"   ? layer_norm_bench(bench)
                       : kind == "copy"        ? copy_bench(bench)
                                               : loader_bench(bench);
  result.kind = kind;
  result.device = bench.device_name;
  return result;
}

std::string name_of_device(torch::Device device) {
  if (device.is_cuda()) return train::gpu_name_of(device).value_or("CUDA device");
  std::ifstream file("/proc/cpuinfo");
  std::string name = "CPU";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const std::size_t begin = line.find(": ");
    if (begin != std::string::npos) name = line.substr(begin + 2);
    break;
  }
  return name + ", " + counted(at::get_num_threads(), "thread");
}

std::vector<MeasuredType> types_of(torch::Device device) {
  if (device.is_cuda()) {
    return {{"fp32", torch::kFloat32},
            {"tf32", torch::kFloat32},
            {"bf16", torch::kBFloat16},
            {"fp16", torch::kFloat16}};
  }
  return {{"fp32", torch::kFloat32}, {"bf16", torch::kBFloat16}};
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 1 << 20) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} MiB", bytes >> 20);
}

}  // namespace hpcboot::machine
