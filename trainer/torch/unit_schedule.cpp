#include "unit_schedule.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/engine.h>

#include <string>
#include <utility>

#include "refusal.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kNamesShown = 10;

}  // namespace

void UnitSchedule::add(const std::shared_ptr<ParameterUnit>& unit) {
  units_.push_back(unit);
  unit->on_gradient([self = weak_from_this(), owner = unit.get()](std::size_t parameter) {
    if (const auto schedule = self.lock()) schedule->gradient_ready(*owner, parameter);
  });
}

at::Device UnitSchedule::device() const {
  for (const auto& unit : units_) {
    if (!unit->flats().empty()) return unit->flats().front().device();
  }
  return at::kCPU;
}

void UnitSchedule::require_end() const {
  if (!in_backward_) return;
  refuse("a forward pass after a backward pass that ended with an exception",
         "backward passes that get to their end",
         "on every rank, construct the model and fully_shard() anew, or end the program");
}

void UnitSchedule::begin_forward() {
  expected_ = std::move(entered_);
  entered_.clear();
  if (kept_ > 0) return;
  // An optimizer may have changed the shards since a forward pass without a backward pass.
  for (const auto& unit : units_) unit->release();
}

void UnitSchedule::enter(ParameterUnit& unit) {
  if (is_outside()) begin_forward();
  ++depth_;
  try {
    unit.gather();
    if (in_backward_) return;  // a segment that is computed again
    entered_.push_back(&unit);
    const std::size_t next = entered_.size();
    if (!prefetch_ || next >= expected_.size()) return;
    if (expected_[next - 1] != &unit) {
      expected_.clear();  // the order has changed
      return;
    }
    expected_[next]->start_gather();
  } catch (...) {
    --depth_;
    throw;
  }
}

at::Tensor UnitSchedule::watch_input(ParameterUnit& unit, const at::Tensor& input) {
  if (in_backward_ || !at::GradMode::is_enabled() || !input.requires_grad()) return input;
  // A view, as its gradient is that of this use only.
  at::Tensor used = input.view_as(input);
  ++unit.open_inputs;
  when_computed(used, unit, &UnitSchedule::input_ready);
  return used;
}

void UnitSchedule::when_computed(const at::Tensor& tensor, ParameterUnit& unit,
                                 void (UnitSchedule::*action)(ParameterUnit&)) {
  tensor.register_hook(
      [self = weak_from_this(), weak = unit.weak_from_this(), action](const at::Tensor&) {
        const auto schedule = self.lock();
        const auto owner = weak.lock();
        if (schedule && owner) (schedule.get()->*action)(*owner);
      });
}

void UnitSchedule::input_ready(ParameterUnit& unit) {
  --unit.open_inputs;
  release_if_done(unit);
}

void UnitSchedule::leave(ParameterUnit& unit, const std::vector<at::Tensor>& outputs) {
  if (in_backward_) return;
  bool has_backward = false;
  for (const at::Tensor& output : outputs) {
    // A leaf is a parameter or an input; hooks would pile up on it.
    if (!at::GradMode::is_enabled() || !output.defined() || !output.requires_grad() ||
        output.is_leaf()) {
      continue;
    }
    has_backward = true;
    when_computed(output, unit, &UnitSchedule::before_backward);
  }
  const bool is_outermost = depth_ == 1;
  const bool frees = unit.options().reshard_after_forward && !is_outermost;
  if (kept_ == 0 && (frees || !has_backward)) unit.release();
  if (is_outermost) finish_copies();
}

void UnitSchedule::begin_backward() {
  if (in_backward_) return;
  in_backward_ = true;
  // Runs at the end of this backward pass; backward() rethrows its exception.
  torch::autograd::Engine::get_default_engine().queue_callback([self = weak_from_this()] {
    if (const auto schedule = self.lock()) schedule->end_backward();
  });
}

void UnitSchedule::before_backward(ParameterUnit& unit) {
  begin_backward();
  unit.gather();
  if (!prefetch_) return;
  for (std::size_t i = entered_.size(); i-- > 1;) {
    if (entered_[i] != &unit) continue;
    if (!entered_[i - 1]->is_done) entered_[i - 1]->start_gather();
    return;
  }
}

void UnitSchedule::gradient_ready(ParameterUnit& unit, std::size_t parameter) {
  if (at::GradMode::is_enabled()) {
    refuse("a backward pass with create_graph through fully_shard()",
           "one whose gradients, averaged over the ranks, need no gradients themselves",
           "use DistributedDataParallel for a loss that depends on gradients");
  }
  begin_backward();
  unit.take_gradient(parameter);
  if (!unit.has_all_gradients()) return;
  if (is_reducing_) {
    finish_reduction();  // one at a time: each takes the memory of the unit's gradients twice
    unit.start_reduction();
    in_reduction_ = &unit;
  }
  release_if_done(unit);
}

void UnitSchedule::release_if_done(ParameterUnit& unit) {
  if (!unit.has_all_gradients() || unit.open_inputs > 0 || kept_ > 0) return;
  unit.is_done = true;
  unit.release();
}

void UnitSchedule::finish_reduction() {
  if (ParameterUnit* unit = std::exchange(in_reduction_, nullptr)) unit->finish_reduction();
}

void UnitSchedule::finish_copies() {
  for (const auto& unit : units_) unit->finish_copies();
}

void UnitSchedule::end_backward() {
  require_whole_units();
  in_backward_ = false;
  finish_reduction();
  finish_copies();
  for (const auto& unit : units_) {
    unit->end_backward();
    if (kept_ == 0) unit->release();
  }
}

/// Other ranks may wait for the average of such a unit, so no further pass is possible.
void UnitSchedule::require_whole_units() const {
  std::vector<std::string> missing;
  for (const auto& unit : units_) {
    if (!unit->has_some_gradients()) continue;
    for (std::string& name : unit->without_gradient()) missing.push_back(std::move(name));
  }
  if (missing.empty()) return;
  refuse("no gradient of " + some_of(missing, kNamesShown) +
             ", although others of the same unit got one",
         "backward passes that reach all trained parameters of a unit, or none",
         "make these parameters units of their own with shard_unit(), remove them, or freeze them "
         "before fully_shard()");
}

void UnitSchedule::keep() {
  for (const auto& unit : units_) unit->gather();
  finish_copies();
  ++kept_;
}

void UnitSchedule::drop() {
  if (--kept_ > 0 || in_backward_ || depth_ > 0) return;
  for (const auto& unit : units_) unit->release();
}

}  // namespace hpcboot
