#include "local_reduction.hpp"

#include <ATen/Functions.h>

#include "hpcboot/error.hpp"

namespace hpcboot {

void require_operation(ReduceOp op, at::ScalarType type, const std::string& doing) {
  const bool is_complex = at::isComplexType(type);
  const bool is_fraction = is_complex || at::isFloatingType(type);
  if (op == ReduceOp::average && !is_fraction) {
    throw Error(ErrorCode::invalid_collective,
                doing + " with the average of " + c10::toString(type),
                "the average of a floating-point or complex type",
                "convert the tensor first, or sum and divide the result");
  }
  if ((op == ReduceOp::min || op == ReduceOp::max) && is_complex) {
    throw Error(ErrorCode::invalid_collective,
                doing + " with the smallest or largest of " + c10::toString(type),
                "numbers that have an order", "reduce the absolute values or the parts");
  }
}

at::Tensor reduced(const at::Tensor& stacked, ReduceOp op) {
  at::Tensor all = stacked;
  const at::ScalarType type = all.scalar_type();
  // LibTorch 1.13 cannot multiply these on the CPU, and the sums round only once this way.
  if (type == at::kHalf || type == at::kBFloat16) all = all.to(at::kFloat);
  const at::ScalarType wide = all.scalar_type();
  const bool is_bool = type == at::kBool;
  switch (op) {
    case ReduceOp::sum:
      return is_bool ? all.any(0) : all.sum(0, false, wide).to(type);
    case ReduceOp::average:
      return all.mean(at::IntArrayRef{0}).to(type);
    case ReduceOp::product:
      return is_bool ? all.all(0) : all.prod(0, false, wide).to(type);
    case ReduceOp::min:
      return is_bool ? all.all(0) : all.amin(0).to(type);
    case ReduceOp::max:
      return is_bool ? all.any(0) : all.amax(0).to(type);
  }
  return {};
}

}  // namespace hpcboot
