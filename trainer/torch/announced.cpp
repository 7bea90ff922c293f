#include "announced.hpp"

#include <ATen/Functions.h>

#include <algorithm>
#include <string>

#include "hpcboot/error.hpp"

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
  const bool is_tensor = field[0] >= 0 && field[1] >= 0 && field[1] <= kAnnouncement - 2 &&
                         field[0] < static_cast<std::int64_t>(at::ScalarType::NumOptions);
  if (!is_tensor) {
    throw Error(ErrorCode::invalid_collective,
                "type " + std::to_string(field[0]) + " with " + std::to_string(field[1]) +
                    " dimensions from another rank",
                "type and shape of a tensor",
                "call the same collectives in the same order on every rank");
  }
  type = static_cast<at::ScalarType>(field[0]);
  shape.assign(field + 2, field + 2 + field[1]);
}

std::int64_t Announced::bytes() const {
  auto count = static_cast<std::int64_t>(c10::elementSize(type));
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace hpcboot
