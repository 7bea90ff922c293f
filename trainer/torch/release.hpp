#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "core/bounded_call.hpp"

namespace hpcboot {

/// Drops what may be the last reference to an object whose destructor waits for other ranks.
template <typename Pointer>
void release_bounded(Pointer& pointer) noexcept {
  // How long a destructor waits for a collective that is stuck.
  constexpr std::chrono::seconds kLimit{5};
  if (!pointer) return;
  try {
    auto last = std::make_shared<Pointer>(std::move(pointer));
    bounded_call([last = std::move(last)] { last->reset(); }, kLimit);
  } catch (...) {
    // The ranks separate either way, and a destructor cannot report an error.
  }
}

}  // namespace hpcboot
