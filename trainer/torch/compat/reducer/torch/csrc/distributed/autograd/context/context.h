#pragma once

// Replaces LibTorch's header of this name if the package lacks it (Debian's 1.13 does). c10d's
// reducer.hpp needs two names from it and no layout: the type of a callback, and a shared pointer
// to a class that only LibTorch itself accesses. For gradient_reducer.cpp only; never installed.

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace torch {
namespace distributed {
namespace autograd {

class DistAutogradContext {
 public:
  using GradCallback = std::function<bool(at::Tensor&)>;
};

using ContextPtr = std::shared_ptr<DistAutogradContext>;

}  // namespace autograd
}  // namespace distributed
}  // namespace torch
