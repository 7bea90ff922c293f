#pragma once

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "hpcboot/error.hpp"
#include "loop/batch_plan.hpp"

namespace hpcboot::train {

/// Whether an exception of the C++ library or of LibTorch means that memory is short.
bool means_memory(const std::exception& cause);

/// Error{out_of_memory} if an exception of the C++ library or of LibTorch means that, on the CPU or
/// a CUDA device, with the number of samples per pass and the options for fewer; nullopt for
/// everything else, including an Error.
/// @param sample what a sample is called: "image"
/// @param recorded whether the passes are recorded as a CUDA graph, which excludes smaller passes
std::optional<Error> memory_failure(const std::exception& cause, const BatchPlan& batches,
                                    std::string_view sample, bool recorded);

/// Runs `body`. If it runs out of memory, throws an Error; any other exception passes unchanged.
/// @throws Error{out_of_memory} and what `body` throws
template <typename Body>
void with_memory(const BatchPlan& batches, std::string_view sample, bool recorded, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& cause) {
    if (const std::optional<Error> error = memory_failure(cause, batches, sample, recorded))
      throw Error(*error);
    throw;
  }
}

}  // namespace hpcboot::train
