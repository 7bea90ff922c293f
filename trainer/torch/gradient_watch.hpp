#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hpcboot {

/// Which parameters each backward pass must reach.
enum class Reach {
  all,
  any,
  same,  ///< those of the first one
};

/// Tracks which parameters got a gradient in the backward pass under way, and when. Reducer itself
/// does not report a missing one: the gradients stay unreduced until the next forward.
class GradientWatch : public std::enable_shared_from_this<GradientWatch> {
 public:
  using Clock = std::chrono::steady_clock;

  GradientWatch(std::vector<std::string> names, Reach reach);

  /// Must be called before Reducer sets its own hooks, which then run after this object's.
  void watch(const std::vector<at::Tensor>& parameters);

  /// Called at the end of the first backward pass. The end of the pass is that of the outermost
  /// one: a checkpointed segment runs one within it.
  void at_first_end(std::function<void()> action) { at_first_end_ = std::move(action); }

  /// Before a backward pass from these results of forward. Its end throws
  /// Error{invalid_model_use} unless it has reached the parameters that it must.
  void begin(const std::vector<at::Tensor>& outputs);

  /// Whether a backward pass has ended yet.
  bool has_ended() const { return has_ended_; }

  Clock::time_point last_gradient() const { return last_gradient_; }

  /// @throws Error{invalid_model_use} if the last backward pass did not get to its end
  void require_end() const;

  /// @throws Error{invalid_model_use} naming the parameters that got no gradient
  void require_all_used() const;

  /// With Reach::any: the previous backward did not reach all parameters that forward's results
  /// depend on.
  /// @throws Error{invalid_model_use} naming them
  void require_outputs_used() const;

 private:
  class Hook;

  std::string unused_parameters() const;
  void mark(std::size_t index);
  void expect_end();
  void end();

  const std::vector<std::string> names_;
  const Reach reach_;
  /// Kept alive, as each has a hook; a parameter does not own its node.
  std::vector<decltype(torch::autograd::Edge::function)> accumulators_;
  std::function<void()> at_first_end_;
  std::vector<bool> used_;
  std::vector<bool> used_first_;
  bool armed_ = false;    // a backward pass is due
  bool running_ = false;  // it has begun
  bool has_ended_ = false;
  Clock::time_point last_gradient_ = Clock::now();
};

}  // namespace hpcboot
