#include "announced.hpp"

#include <ATen/Functions.h>

#include <algorithm>

namespace hpcboot {

// In this order: type, number of dimensions, sizes.
at::Tensor announcement(const at::Tensor& tensor) {
  at::Tensor result = at::zeros({kAnnouncement}, at::kLong);
  auto* const field = result.data_ptr<std::int64_t>();
  field[0] = static_cast<std::int64_t>(tensor.scalar_type());
  field[1] = tensor.dim();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), field + 2);
  return result;
}

Announced::Announced(const at::Tensor& announcement) {
  const auto* const field = announcement.data_ptr<std::int64_t>();
  type = static_cast<at::ScalarType>(field[0]);
  shape.assign(field + 2, field + 2 + field[1]);
}

std::int64_t Announced::bytes() const {
  auto count = static_cast<std::int64_t>(c10::elementSize(type));
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace hpcboot
