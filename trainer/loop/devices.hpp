#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/resolve.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Number of replicas in mode dp on a machine without CUDA devices.
constexpr int kCpuReplicas = 2;

/// The devices that --devices names: "cpu:2" is two replicas on the CPU, "cuda:0,1" these two CUDA
/// devices, "cuda" all of them.
/// @param cuda_devices how many are visible
/// @throws UsageError; Error{backend_unavailable} for CUDA devices that do not exist
std::vector<torch::Device> parse_devices(std::string_view text, int cuda_devices);

/// The devices that this process trains on: one, or several in mode dp.
/// @param mode the resolved mode
/// @throws UsageError, Error{backend_unavailable}
std::vector<torch::Device> devices_of(const TrainOptions& options, const std::string& mode,
                                      const Resolution& me);

/// The backend that connects the ranks: the requested one; for auto, NCCL between CUDA devices if
/// this build supports it, otherwise Gloo.
/// @param with_nccl has_nccl()
/// @throws UsageError for NCCL and --device cpu
std::string backend_of(const TrainOptions& options, torch::Device device, bool with_nccl);

/// Waits until a CUDA device has finished all its queued work, so that measured times include it.
/// Does nothing on the CPU.
void wait_for(torch::Device device);

/// "NVIDIA H200"; nothing for the CPU, or if the driver does not tell.
std::optional<std::string> gpu_name_of(torch::Device device);

/// Several devices in the syntax of parse_devices(): "cpu", "cuda:0", "cpu:2", "cuda:0,1".
std::string name_of(const std::vector<torch::Device>& devices);

}  // namespace hpcboot::train
