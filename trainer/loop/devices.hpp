#pragma once

#include <torch/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/resolve.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// How many replicas mode dp trains on a machine without CUDA devices.
constexpr int kCpuReplicas = 2;

/// The devices that --devices names: "cpu:2" is two replicas on the CPU, "cuda:0,1" these two CUDA
/// devices, "cuda" all of them.
/// @param cuda_devices how many are visible
/// @throws UsageError; Error{backend_unavailable} for CUDA devices that are not there
std::vector<torch::Device> parse_devices(std::string_view text, int cuda_devices);

/// What this process trains on: one device, several in mode dp.
/// @param mode the resolved one
/// @throws UsageError, Error{backend_unavailable}
std::vector<torch::Device> devices_of(const TrainOptions& options, const std::string& mode,
                                      const Resolution& me);

/// What connects the ranks: the backend asked for; with auto NCCL between CUDA devices, where this
/// build has it, and Gloo everywhere else.
/// @param with_nccl has_nccl()
/// @throws UsageError for NCCL and --device cpu
std::string backend_of(const TrainOptions& options, torch::Device device, bool with_nccl);

/// Returns when a CUDA device has done all that was handed to it, for times that are to include its
/// work. The CPU is done with everything at any time.
void wait_for(torch::Device device);

/// As parse_devices() takes it where there are several: "cpu", "cuda:0", "cpu:2", "cuda:0,1".
std::string name_of(const std::vector<torch::Device>& devices);

}  // namespace hpcboot::train
