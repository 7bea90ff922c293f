#include "forward_state.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <mutex>

#include "compat.hpp"
#include "refusal.hpp"

namespace hpcboot {
namespace {

at::Tensor bytes_of(at::Generator generator) {  // a handle
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

}  // namespace

std::int64_t version_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_inference()) return -1;
  return static_cast<std::int64_t>(tensor._version());
}

ModuleSettings::ModuleSettings(const torch::nn::Module& module) {
  for (const auto& part : module.modules()) training_.push_back(part->is_training());
  for (const at::Tensor& parameter : module.parameters()) {
    versions_.push_back(version_of(parameter));
  }
}

void ModuleSettings::require_same(const torch::nn::Module& module) const {
  const ModuleSettings now(module);
  if (now.training_ != training_) {
    refuse("train() or eval() between the passes of checkpoint()", "the mode of the first pass",
           "call it after backward()");
  }
  if (now.versions_ == versions_) return;
  const auto named = module.named_parameters();
  std::size_t i = 0;
  while (i + 1 < std::min(named.size(), versions_.size()) && now.versions_[i] == versions_[i]) ++i;
  refuse("a change of parameter '" + named[i].key() + "' between the passes of checkpoint()",
         "its values in the first pass", "change it after backward(), as optimizers do");
}

RandomStates::RandomStates(const std::vector<at::Tensor>& tensors,
                           const torch::nn::Module& module) {
  std::vector<at::Device> devices = {at::kCPU};
  for (const auto& some : {tensors, module.parameters(), module.buffers()}) {
    for (const at::Tensor& tensor : some) {
      if (!tensor.defined() || !tensor.is_cuda()) continue;
      if (std::find(devices.begin(), devices.end(), tensor.device()) == devices.end()) {
        devices.push_back(tensor.device());
      }
    }
  }
  for (const at::Device device : devices) {
    const at::Generator generator = at::globalContext().defaultGenerator(device);
    states_.push_back({generator, bytes_of(generator)});
  }
}

void RandomStates::keep_used() {
  const auto is_unused = [](const State& state) {
    return bytes_of(state.generator).equal(state.bytes);
  };
  states_.erase(std::remove_if(states_.begin(), states_.end(), is_unused), states_.end());
}

RandomStates RandomStates::now() const {
  RandomStates current = *this;
  for (State& state : current.states_) state.bytes = bytes_of(state.generator);
  return current;
}

void RandomStates::restore() const {
  for (const State& state : states_) {
    at::Generator generator = state.generator;
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state.bytes);
  }
}

AutocastState::AutocastState() {
  const auto now = [](c10::DeviceType device) {
    return OfDevice{device, compat::autocast_enabled(device), compat::autocast_type(device)};
  };
  devices_ = {now(at::kCPU), now(at::kCUDA)};
}

void AutocastState::restore() const {
  for (const OfDevice& one : devices_) {
    compat::set_autocast_type(one.device, one.type);
    compat::set_autocast(one.device, one.is_on);
  }
}

WithoutAutocastCache::WithoutAutocastCache() : before_(at::autocast::is_autocast_cache_enabled()) {
  at::autocast::set_autocast_cache_enabled(false);
}
WithoutAutocastCache::~WithoutAutocastCache() {
  at::autocast::set_autocast_cache_enabled(before_);
}

BufferValues::BufferValues(const torch::nn::Module& module) : buffers_(module.buffers()) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& buffer : buffers_) {
    values_.push_back(buffer.defined() ? buffer.clone() : at::Tensor());
  }
}

BufferValues::~BufferValues() {
  try {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      // With a version counter of its own.
      if (buffers_[i].defined()) buffers_[i].variable_data().copy_(values_[i]);
    }
  } catch (...) {
    // The device has failed: the next operation reports it.
  }
}

}  // namespace hpcboot
