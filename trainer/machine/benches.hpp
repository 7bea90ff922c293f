#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "loop/communicator.hpp"
#include "machine/bench_result.hpp"
#include "machine/stopwatch.hpp"

namespace hpcboot::machine {

/// Where and how long to measure.
struct Bench {
  torch::Device device;
  std::string device_name;  ///< as the driver or the kernel names it
  Stopwatch watch;
  train::Communicator& ranks;
};

// The operations of a kind, with the figures that count. For an operation that the device does not
// have, such as fp16 on a CPU, there are no rows.

/// Collective. @throws Error{peer_lost, deadline_exceeded}
BenchResult all_reduce_bench(const Bench& bench);
BenchResult matmul_bench(const Bench& bench);
BenchResult convolution_bench(const Bench& bench);
BenchResult layer_norm_bench(const Bench& bench);
BenchResult copy_bench(const Bench& bench);
BenchResult loader_bench(const Bench& bench);

/// One of bench_kinds().
BenchResult run_bench(const std::string& kind, const Bench& bench);

/// "NVIDIA H200", "Intel(R) Xeon(R) Processor, 2 threads".
std::string name_of_device(torch::Device device);

/// A type that is measured on a device.
struct MeasuredType {
  const char* name;  ///< fp32, tf32, bf16, fp16
  torch::ScalarType type;
};
/// Those that the device computes with: fp32 and bf16, on CUDA devices also tf32 and fp16.
std::vector<MeasuredType> types_of(torch::Device device);

/// "4 KiB", "64 MiB".
std::string size_text(std::int64_t bytes);

}  // namespace hpcboot::machine
