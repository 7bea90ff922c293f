#include "gradient_watch.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

#include "hpcboot/error.hpp"
#include "texts.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kNamesShown = 10;

[[noreturn]] void refuse_changed_graph(const std::string& found) {
  throw Error(ErrorCode::invalid_model_use, found,
              "with static_graph, backward passes that all reach the same parameters",
              "set find_unused_parameters instead of static_graph");
}

}  // namespace

/// A hook of the node that adds to .grad, as Reducer's: one of the tensor would also run if
/// autograd::grad() returns this gradient.
class GradientWatch::Hook : public torch::autograd::FunctionPostHook {
 public:
  Hook(std::weak_ptr<GradientWatch> watch, std::size_t index)
      : watch_(std::move(watch)), index_(index) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    if (const auto watch = watch_.lock()) watch->mark(index_);
    return outputs;
  }

 private:
  const std::weak_ptr<GradientWatch> watch_;  // the parameter may outlive it
  const std::size_t index_;
};

GradientWatch::GradientWatch(std::vector<std::string> names, Reach reach)
    : names_(std::move(names)), reach_(reach), used_(names_.size(), true) {}

void GradientWatch::watch(const std::vector<at::Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters[i]));
    accumulators_.back()->add_post_hook(std::make_unique<Hook>(weak_from_this(), i));
  }
}

void GradientWatch::begin(const std::vector<at::Tensor>& outputs) {
  std::fill(used_.begin(), used_.end(), false);
  armed_ = true;
  running_ = false;
  for (const at::Tensor& output : outputs) {
    // A leaf is a parameter or an input; hooks would pile up on it.
    if (!output.defined() || !output.requires_grad() || output.is_leaf()) continue;
    output.register_hook([self = weak_from_this()](const at::Tensor&) {
      if (const auto watch = self.lock()) watch->expect_end();
    });
  }
}

void GradientWatch::require_end() const {
  if (!running_ || std::find(used_.begin(), used_.end(), true) == used_.end()) return;
  throw Error(ErrorCode::invalid_model_use,
              "the previous backward pass ended with an exception, with part of the gradients "
              "exchanged",
              "backward passes that get to their end",
              "on every rank, clear the gradients and construct DistributedDataParallel anew, or "
              "end the program");
}

void GradientWatch::require_all_used() const {
  const std::string unused = unused_parameters();
  if (unused.empty()) return;
  throw Error(ErrorCode::invalid_model_use, unused, "a loss that depends on every parameter",
              "remove these parameters, freeze them with set_requires_grad(false) before "
              "DistributedDataParallel, or set find_unused_parameters and return from forward "
              "only what the loss uses");
}

void GradientWatch::require_outputs_used() const {
  const std::string unused = unused_parameters();
  if (unused.empty()) return;
  throw Error(ErrorCode::invalid_model_use,
              unused + ", although forward returned a tensor that depends on them",
              "a loss that depends on every tensor that forward returns",
              "return from forward only what the loss uses, or detach() the rest; and let a "
              "backward follow each forward with gradients");
}

/// "2 of 5 parameters got no gradient: a, b"; empty if all got one.
std::string GradientWatch::unused_parameters() const {
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!used_[i]) unused.push_back(names_[i]);
  }
  if (unused.empty()) return {};
  return std::to_string(unused.size()) + " of " + std::to_string(names_.size()) +
         " parameters got no gradient: " + some_of(unused, kNamesShown);
}

void GradientWatch::mark(std::size_t index) {
  last_gradient_ = Clock::now();
  const bool again = used_[index];
  used_[index] = true;
  if (!armed_) return;
  if (at::GradMode::is_enabled()) {
    throw Error(ErrorCode::invalid_model_use, "a backward pass with create_graph",
                "one whose gradients, averaged over the ranks, need no gradients themselves",
                "compute gradients that are part of the loss with torch::autograd::grad() from the "
                "results of forward");
  }
  if (again && reach_ != Reach::same) {
    throw Error(ErrorCode::invalid_model_use,
                "a second gradient of " + names_[index] + " in one backward pass",
                "one gradient of each parameter, unless static_graph is set",
                "set static_graph if checkpointed segments share this parameter; after a backward "
                "pass that threw, call forward again");
  }
  // Unless a hook of forward's results has done so.
  expect_end();
  if (reach_ == Reach::same && has_ended_ && !used_first_[index]) {
    refuse_changed_graph("a gradient of " + names_[index] +
                         ", which the first backward pass did not reach");
  }
}

void GradientWatch::expect_end() {
  if (!armed_ || running_) return;
  running_ = true;
  // Runs at the end of this backward pass; backward() rethrows its exception.
  torch::autograd::Engine::get_default_engine().queue_callback([self = weak_from_this()] {
    if (const auto watch = self.lock()) watch->end();
  });
}

void GradientWatch::end() {
  running_ = false;
  // The pass was autograd::grad() with respect to an input.
  if (std::find(used_.begin(), used_.end(), true) == used_.end()) return;
  armed_ = false;
  if (!has_ended_) {
    has_ended_ = true;
    used_first_ = used_;
    if (at_first_end_) at_first_end_();
  }
  if (reach_ == Reach::all) require_all_used();
  if (reach_ == Reach::same && used_ != used_first_) {
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (used_first_[i] && !used_[i]) missing.push_back(names_[i]);
    }
    refuse_changed_graph("no gradient of " + some_of(missing, kNamesShown) +
                         ", which the first backward pass reached");
  }
}

}  // namespace hpcboot
