#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace hpcboot {

/// Calls `look` again and again until it returns a text, which the other ranks are told, or until
/// one that another rank has told comes. Empty after `wait`. Never throws.
std::string first_account(const c10::intrusive_ptr<c10d::Store>& store,
                          const std::function<std::string()>& look,
                          std::chrono::milliseconds wait) noexcept;

}  // namespace hpcboot
