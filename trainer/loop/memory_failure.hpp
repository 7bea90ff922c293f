#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "hpcboot/error.hpp"
#include "loop/batch_plan.hpp"

namespace hpcboot::train {

/// The most bytes of address space that this process may have (`ulimit -v`, Grid Engine's h_vmem).
std::optional<std::uint64_t> address_space_limit();

/// Whether an exception of the C++ library or of LibTorch means that memory is short.
bool means_memory(const std::exception& cause);

/// What needs the memory.
struct MemoryUse {
  BatchPlan batches;
  std::string_view sample;       ///< what a sample is called: "image"
  bool recorded = false;         ///< as a CUDA graph, which excludes smaller passes
  std::string_view phase;        ///< of the run: "a training step"
  bool has_batch_norms = false;  ///< over the samples of a pass
};

/// Error{out_of_memory} if an exception of the C++ library or of LibTorch means that, on the CPU or
/// a CUDA device, with the phase, the number of samples per pass and the options for fewer; nullopt
/// for everything else, including an Error.
std::optional<Error> memory_failure(const std::exception& cause, const MemoryUse& use);

/// Runs `body`. If it runs out of memory, throws an Error; any other exception passes unchanged.
/// @param use whose phase `body` may change
/// @throws Error{out_of_memory} and what `body` throws
template <typename Body>
void with_memory(const MemoryUse& use, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& cause) {
    if (const std::optional<Error> error = memory_failure(cause, use)) throw Error(*error);
    throw;
  }
}

}  // namespace hpcboot::train
