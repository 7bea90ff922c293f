#pragma once

#include <ATen/core/Tensor.h>

#include <sstream>
#include <string>
#include <type_traits>

namespace hpcboot {

/// The key of a parameter in Optimizer::state(): a pointer, or that pointer as text in LibTorch
/// 1.13.
template <typename States>
auto key_of(const States&, const at::Tensor& parameter) {
  using Key = typename States::key_type;
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  } else {
    return static_cast<Key>(parameter.unsafeGetTensorImpl());
  }
}

}  // namespace hpcboot
