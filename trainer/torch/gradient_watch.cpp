#include "gradient_watch.hpp"

#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

constexpr std::size_t kNamesShown = 10;

}  // namespace

GradientWatch::GradientWatch(std::vector<std::string> names)
    : names_(std::move(names)), used_(names_.size(), true) {}

void GradientWatch::watch(const std::vector<at::Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // The hook lives as long as the parameter, which may outlive this object.
    parameters[i].register_hook([self = weak_from_this(), i](const at::Tensor&) {
      if (const auto check = self.lock()) check->mark(i);
    });
  }
}

void GradientWatch::begin(bool require_all) {
  std::fill(used_.begin(), used_.end(), false);
  armed_ = require_all;
}

void GradientWatch::require_all_used() const {
  const std::string unused = unused_parameters();
  if (unused.empty()) return;
  throw Error(ErrorCode::invalid_model_use, unused, "a loss that depends on every parameter",
              "remove these parameters, freeze them with set_requires_grad(false) before "
              "DistributedDataParallel, or set find_unused_parameters and return from forward "
              "only what the loss uses");
}

void GradientWatch::refuse_unused_outputs() const {
  throw Error(ErrorCode::invalid_model_use,
              unused_parameters() + ", although forward returned a tensor that depends on them",
              "a loss that depends on every tensor that forward returns",
              "return from forward only what the loss uses, or detach() the rest; and let a "
              "backward follow each forward with gradients");
}

/// "2 of 5 parameters got no gradient: a, b"; empty if all got one.
std::string GradientWatch::unused_parameters() const {
  std::string unused;
  std::size_t count = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (used_[i]) continue;
    ++count;
    if (count <= kNamesShown) unused += (unused.empty() ? "" : ", ") + names_[i];
  }
  if (count == 0) return {};
  if (count > kNamesShown) unused += " and " + std::to_string(count - kNamesShown) + " more";
  return std::to_string(count) + " of " + std::to_string(names_.size()) +
         " parameters got no gradient: " + unused;
}

void GradientWatch::mark(std::size_t index) {
  last_gradient_ = Clock::now();
  used_[index] = true;
  if (!armed_) return;
  armed_ = false;
  // Runs at the end of this backward pass; backward() rethrows its exception.
  torch::autograd::Engine::get_default_engine().queue_callback([self = weak_from_this()] {
    if (const auto check = self.lock()) check->require_all_used();
  });
}

}  // namespace hpcboot
