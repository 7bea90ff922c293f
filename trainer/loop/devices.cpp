#include "loop/devices.hpp"

#include <torch/cuda.h>

#include <algorithm>
#include <optional>

#include "core/counted.hpp"
#include "gpu/cuda_driver.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::train {
namespace {

constexpr int kMostReplicas = 1024;

[[noreturn]] void fail(std::string_view text) {
  throw UsageError("--devices is '" + std::string(text) +
                   "'; it takes cpu:N for N replicas on the CPU, cuda, or cuda:I,J,... with "
                   "distinct numbers of CUDA devices");
}

void require_cuda(int visible, const std::string& asked_for) {
  if (visible > 0) return;
  throw Error(ErrorCode::backend_unavailable, asked_for + ", but this LibTorch sees no CUDA device",
              "a LibTorch built for CUDA, a driver and a visible device",
              "use --device cpu, or check nvidia-smi, CUDA_VISIBLE_DEVICES, and that LibTorch is a "
              "build for CUDA");
}

torch::Device cuda_device(std::int64_t index) {
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

std::vector<torch::Device> all_cuda_devices(int visible) {
  std::vector<torch::Device> devices;
  for (int index = 0; index < visible; ++index) devices.push_back(cuda_device(index));
  return devices;
}

std::vector<torch::Device> listed_cuda_devices(std::string_view text, std::string_view list,
                                               int visible) {
  std::vector<torch::Device> devices;
  while (true) {
    const std::size_t comma = list.find(',');
    const auto index = parse_whole_number(list.substr(0, comma));
    if (!index || *index < 0) fail(text);
    if (*index >= visible) {
      throw Error(
          ErrorCode::backend_unavailable,
          "--devices " + std::string(text) + ", but only " + counted(visible, "CUDA device") +
              (visible == 1 ? " is visible" : " are visible"),
          visible == 1 ? "device number 0" : "device numbers 0 to " + std::to_string(visible - 1),
          "correct --devices or CUDA_VISIBLE_DEVICES");
    }
    if (std::count(devices.begin(), devices.end(), cuda_device(*index)) != 0) fail(text);
    devices.push_back(cuda_device(*index));
    if (comma == std::string_view::npos) return devices;
    list.remove_prefix(comma + 1);
  }
}

int visible_cuda_devices() {
  return torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
}

}  // namespace

std::vector<torch::Device> parse_devices(std::string_view text, int cuda_devices) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const auto list = colon == std::string_view::npos
                        ? std::nullopt
                        : std::optional<std::string_view>(text.substr(colon + 1));
  if (kind == "cpu" && list) {
    const auto count = parse_whole_number(*list);
    if (!count || *count < 1 || *count > kMostReplicas) fail(text);
    return {static_cast<std::size_t>(*count), torch::Device(torch::kCPU)};
  }
  if (kind != "cuda") fail(text);
  require_cuda(cuda_devices, "--devices " + std::string(text));
  return list ? listed_cuda_devices(text, *list, cuda_devices) : all_cuda_devices(cuda_devices);
}

std::vector<torch::Device> devices_of(const TrainOptions& options, const std::string& mode,
                                      const Resolution& me) {
  if (!options.devices.empty() && mode != "dp") {
    throw UsageError("--devices is for --mode dp, but this run uses mode " + mode +
                     "; choose between CPU and CUDA with --device");
  }
  const int visible = visible_cuda_devices();
  if (!options.devices.empty()) {
    const bool on_cpu = options.devices.rfind("cpu", 0) == 0;
    if (options.device != "auto" && on_cpu != (options.device == "cpu")) {
      throw UsageError("--devices " + options.devices + " and --device " + options.device +
                       " contradict each other; give only one of them");
    }
    return parse_devices(options.devices, visible);
  }
  if (options.device == "cuda") require_cuda(visible, "--device cuda");
  const bool cuda = options.device != "cpu" && visible > 0;
  if (mode == "dp") {
    return cuda ? all_cuda_devices(visible)
                : std::vector<torch::Device>(kCpuReplicas, torch::Device(torch::kCPU));
  }
  return {cuda ? cuda_device(me.device.value_or(0)) : torch::Device(torch::kCPU)};
}

std::string backend_of(const TrainOptions& options, torch::Device device, bool with_nccl) {
  if (options.backend == "auto") return device.is_cuda() && with_nccl ? "nccl" : "gloo";
  if (options.backend == "nccl" && options.device == "cpu") {
    throw UsageError("--backend nccl connects GPUs, but --device is cpu; use --backend gloo");
  }
  return options.backend;
}

void wait_for(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

std::optional<std::string> gpu_name_of(torch::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  return gpu::name_of_gpu(std::max<int>(0, device.index()));
}

std::string name_of(const std::vector<torch::Device>& devices) {
  if (devices.size() == 1) return devices.front().str();
  if (devices.front().is_cpu()) return "cpu:" + std::to_string(devices.size());
  std::string text = "cuda:";
  for (const torch::Device& device : devices) {
    text += (text.back() == ':' ? "" : ",") + std::to_string(device.index());
  }
  return text;
}

}  // namespace hpcboot::train
