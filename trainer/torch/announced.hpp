#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace hpcboot {

/// How many 64-bit numbers a rank sends to tell type and shape of a tensor.
constexpr std::int64_t kAnnouncement = 2 + 64;  // LibTorch's tensors have at most 64 dimensions

/// Type and shape of the tensor, to be sent ahead of it.
at::Tensor announcement(const at::Tensor& tensor);

/// A tensor that another rank has announced.
struct Announced {
  explicit Announced(const at::Tensor& announcement);
  std::int64_t bytes() const;

  at::ScalarType type;
  std::vector<std::int64_t> shape;
};

}  // namespace hpcboot
