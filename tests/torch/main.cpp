// The program of the tests that need the ranks of a launch.
#include <ATen/Context.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <iostream>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/precision.hpp"
#include "torch/world.hpp"

std::unique_ptr<hpcboot::ProcessGroup> hpcboot::world;
c10::Device hpcboot::device = c10::kCPU;
std::string hpcboot::backend = "gloo";

namespace {

constexpr int kSkipped = 77;  // the exit code that CTest shows as "Skipped"

void use_gpu(const hpcboot::Resolution& resolution) {
  const auto visible = static_cast<int>(torch::cuda::device_count());
  const auto& placement = resolution.placement;
  hpcboot::device =
      c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(placement.local_rank % visible));
  hpcboot::use_precision(hpcboot::Precision::fp32, hpcboot::device);
  // Two runs are compared bit for bit. Some of LibTorch's kernels have no such version.
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  const bool one_each = placement.local_size.value_or(placement.world_size) <= visible;
  // NCCL takes one rank per GPU; more ranks share GPUs through Gloo.
  if (hpcboot::has_nccl() && one_each) hpcboot::backend = "nccl";
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    const auto env = hpcboot::Env::from_process();
    const auto resolution = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
    hpcboot::ProcessGroupOptions options;
    if (env.text("HPCBOOT_TEST_DEVICE") == "cuda") {
      if (!torch::cuda::is_available()) {
        std::cout << "skipped: LibTorch sees no CUDA device\n";
        return kSkipped;
      }
      use_gpu(resolution);
      options.backend = hpcboot::backend;
    }
    hpcboot::world = std::make_unique<hpcboot::ProcessGroup>(
        hpcboot::make_process_group(resolution, env, options));
    std::cout << "rank " + std::to_string(hpcboot::world->rank()) + " of " +
                     std::to_string(hpcboot::world->world_size()) + ", " +
                     hpcboot::world->description() + ", " + options.backend + " on " +
                     hpcboot::device.str() + "\n";
    const int failed = RUN_ALL_TESTS();
    hpcboot::world->shutdown();
    hpcboot::world.reset();
    return failed;
  } catch (const hpcboot::Error& error) {
    std::cerr << hpcboot::format_error("ddp_test", error);
    return error.exit_code();
  }
}
