#include "forward_state.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <mutex>

#include "compat.hpp"

namespace hpcboot {
namespace {

at::Tensor bytes_of(at::Generator generator) {  // a handle
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

}  // namespace

RandomStates::RandomStates(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Device> devices = {at::kCPU};
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || !tensor.is_cuda()) continue;
    if (std::find(devices.begin(), devices.end(), tensor.device()) == devices.end()) {
      devices.push_back(tensor.device());
    }
  }
  for (const at::Device device : devices) {
    const at::Generator generator = at::globalContext().defaultGenerator(device);
    states_.push_back({generator, bytes_of(generator)});
  }
}

bool RandomStates::have_moved() const {
  return std::any_of(states_.begin(), states_.end(), [](const State& state) {
    return !bytes_of(state.generator).equal(state.bytes);
  });
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

void BufferValues::restore() const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    // With a version counter of its own.
    if (buffers_[i].defined()) buffers_[i].variable_data().copy_(values_[i]);
  }
}

}  // namespace hpcboot
