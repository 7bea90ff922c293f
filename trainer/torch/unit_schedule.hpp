#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "hpcboot/torch/process_group.hpp"
#include "parameter_unit.hpp"

namespace hpcboot {

/// When the units of one fully_shard() are gathered, freed and reduced: the same on all ranks, as
/// long as these run the same units in the same order.
class UnitSchedule : public std::enable_shared_from_this<UnitSchedule> {
 public:
  UnitSchedule(const ProcessGroup& group, bool prefetch) : group_(group), prefetch_(prefetch) {}

  void add(const std::shared_ptr<ParameterUnit>& unit);
  const std::vector<std::shared_ptr<ParameterUnit>>& units() const { return units_; }
  const ProcessGroup& group() const { return group_; }
  /// On which the ranks exchange tensors.
  at::Device device() const;

  /// Whether no unit runs: the next one is the outermost of a forward pass.
  bool is_outside() const { return depth_ == 0 && !in_backward_; }
  /// @throws Error{invalid_model_use} if the last backward pass did not get to its end
  void require_end() const;

  /// Before a unit's forward: makes it whole, and starts to gather the next one.
  void enter(ParameterUnit& unit);
  /// An input of that forward. @return the tensor to use in its place
  at::Tensor watch_input(ParameterUnit& unit, const at::Tensor& input);
  /// After it, with its results.
  void leave(ParameterUnit& unit, const std::vector<at::Tensor>& outputs);
  /// After it, however it ended.
  void left() { --depth_; }

  bool is_reducing() const { return is_reducing_; }
  void set_reducing(bool reducing) { is_reducing_ = reducing; }

  /// Keeps all units whole until drop(). Collective.
  void keep();
  void drop();

 private:
  void begin_forward();
  void begin_backward();
  /// Calls `action` for the unit when the gradient of a tensor has been computed.
  void when_computed(const at::Tensor& tensor, ParameterUnit& unit,
                     void (UnitSchedule::*action)(ParameterUnit&));
  void before_backward(ParameterUnit& unit);
  void gradient_ready(ParameterUnit& unit, std::size_t parameter);
  void input_ready(ParameterUnit& unit);
  void release_if_done(ParameterUnit& unit);
  void finish_reduction();
  void finish_copies();
  void require_whole_units() const;
  void end_backward();

  ProcessGroup group_;
  bool prefetch_;
  std::vector<std::shared_ptr<ParameterUnit>> units_;
  std::vector<ParameterUnit*> expected_;  // the units of the last forward pass, in order
  std::vector<ParameterUnit*> entered_;   // those of this one
  ParameterUnit* in_reduction_ = nullptr;
  int depth_ = 0;  // of units that run
  int kept_ = 0;
  bool in_backward_ = false;
  bool is_reducing_ = true;
};

}  // namespace hpcboot
