#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hpcboot {

/// Tracks which parameters got a gradient in the backward pass under way, and when. Reducer itself
/// does not report a missing one: the gradients stay unreduced until the next forward.
class GradientWatch : public std::enable_shared_from_this<GradientWatch> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit GradientWatch(std::vector<std::string> names);

  void watch(const std::vector<at::Tensor>& parameters);

  /// Before a backward.
  /// @param require_all the end of it throws unless all parameters got a gradient
  void begin(bool require_all);

  Clock::time_point last_gradient() const { return last_gradient_; }

  /// @throws Error{invalid_model_use} naming the parameters that got no gradient
  void require_all_used() const;

  /// With find_unused_parameters: the previous backward did not reach all parameters that forward's
  /// results depend on.
  [[noreturn]] void refuse_unused_outputs() const;

 private:
  std::string unused_parameters() const;
  void mark(std::size_t index);

  std::vector<std::string> names_;
  std::vector<bool> used_;
  bool armed_ = false;
  Clock::time_point last_gradient_ = Clock::now();
};

}  // namespace hpcboot
