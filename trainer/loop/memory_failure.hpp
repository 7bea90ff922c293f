#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "hpcboot/error.hpp"
#include "loop/batch_plan.hpp"

namespace hpcboot::train {

/// Error{out_of_memory} where that is what an exception of the C++ library or of LibTorch means,
/// on the CPU or a CUDA device, with how many images a pass has and the options for fewer; nullopt
/// for everything else, an Error included.
std::optional<Error> memory_failure(const std::exception& cause, const BatchPlan& batches);

/// Runs `body`. Where memory does not suffice for it, that leaves as an Error; everything else
/// passes unchanged.
/// @throws Error{out_of_memory} and what `body` throws
template <typename Body>
void with_memory(const BatchPlan& batches, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& cause) {
    if (const std::optional<Error> error = memory_failure(cause, batches)) throw Error(*error);
    throw;
  }
}

}  // namespace hpcboot::train
