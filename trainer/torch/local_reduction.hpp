#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {

/// @param doing for the message: "an all-reduce"
/// @throws Error{invalid_collective} if the operation has no meaning for tensors of this type
void require_operation(ReduceOp op, at::ScalarType type, const std::string& doing);

/// The operation, applied to the elements of tensors of the same shape, in their order.
/// @param stacked the tensors, along the first dimension
at::Tensor reduced(const at::Tensor& stacked, ReduceOp op);

}  // namespace hpcboot
