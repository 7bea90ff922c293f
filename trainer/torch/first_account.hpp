#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace hpcboot {

/// Calls `look` repeatedly until it returns a text, which is published to the other ranks, or until
/// another rank has published one. Empty after `wait`. Never throws.
std::string first_account(const c10::intrusive_ptr<c10d::Store>& store,
                          const std::function<std::string()>& look,
                          std::chrono::milliseconds wait) noexcept;

}  // namespace hpcboot
