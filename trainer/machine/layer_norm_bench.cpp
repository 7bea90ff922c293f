#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>
#include <torch/utils.h>

#include <functional>

#include "machine/benches.hpp"
#include "machine/data_sheet.hpp"

namespace hpcboot::machine {
namespace {

constexpr double kEps = 1e-5;

/// In the steps of the formula, each an operation of its own.
torch::Tensor composed(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias) {
  const torch::Tensor mean = x.mean({-1}, /*keepdim=*/true);
  const torch::Tensor centred = x - mean;
  const torch::Tensor variance = (centred * centred).mean({-1}, /*keepdim=*/true);
  return centred * torch::rsqrt(variance + kEps) * weight + bias;
}

/// The same steps as a program that TorchScript compiles, and fuses where it can.
const std::shared_ptr<torch::jit::CompilationUnit>& script() {
  static const auto unit = torch::jit::compile(R"(
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * weight + bias
)");
  return unit;
}

}  // namespace

BenchResult layer_norm_bench(const Bench& bench) {
  const torch::NoGradGuard no_grad;
  BenchResult result;
  result.columns = {"variant", "dtype", "width"};
  result.note =
      "Forward pass over as many rows as make up 64 MiB of fp32 on a GPU, 4 MiB on a CPU. native: "
      "torch::layer_norm; composed: mean, variance and scale as operations of their own; fused: "
      "the "
      "same by TorchScript. GB/s: input read once, output written once.";
  const std::int64_t elements =
      bench.device.is_cuda() ? std::int64_t{1} << 24 : std::int64_t{1} << 20;
  using Norm = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&,
                                           const torch::Tensor&)>;
  const std::pair<const char*, Norm> variants[] = {
      {"native",
       [](const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
         return torch::layer_norm(x, {x.size(-1)}, weight, bias, kEps);
       }},
      {"composed", composed},
      {"fused", [](const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
         return script()->run_method("layer_norm", x, weight, bias).toTensor();
       }}};
  for (const auto& [name, norm] : variants) {
    for (const MeasuredType& type : types_of(bench.device)) {
      if (std::string(type.name) == "tf32") continue;  // there is no product in it
      for (const std::int64_t width : {256, 1024, 4096, 16384}) {
        const auto options = torch::dtype(type.type).device(bench.device);
        const torch::Tensor x =
            torch::randn({elements / width, width}, torch::device(bench.device)).to(options);
        const torch::Tensor weight = torch::ones({width}, options);
        const torch::Tensor bias = torch::zeros({width}, options);
        BenchRow row;
        row.what = {name, type.name, std::to_string(width)};
        row.size = static_cast<double>(width);
        row.bytes = 2.0 * static_cast<double>(x.nbytes());
        row.promised = promised_bandwidth(bench.device_name);
        row.timing = bench.watch.measure([&, &norm = norm] { norm(x, weight, bias); });
        result.rows.push_back(row);
      }
    }
  }
  return result;
}

}  // namespace hpcboot::machine
