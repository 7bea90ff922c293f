#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/safetensors.hpp"

namespace hpcboot {

inline constexpr std::pair<record::DType, at::ScalarType> kTensorTypes[] = {
    {record::DType::boolean, at::kBool}, {record::DType::u8, at::kByte},
    {record::DType::i8, at::kChar},      {record::DType::i16, at::kShort},
    {record::DType::f16, at::kHalf},     {record::DType::bf16, at::kBFloat16},
    {record::DType::i32, at::kInt},      {record::DType::f32, at::kFloat},
    {record::DType::f64, at::kDouble},   {record::DType::i64, at::kLong}};

/// @throws Error{invalid_model_use} for a type that safetensors lacks
inline record::DType dtype_of(const at::Tensor& tensor) {
  for (const auto& [dtype, type] : kTensorTypes) {
    if (type == tensor.scalar_type()) return dtype;
  }
  throw Error(ErrorCode::invalid_model_use,
              std::string("a tensor of type ") + c10::toString(tensor.scalar_type()),
              "real numbers, integers or Booleans", "convert the model");
}

/// @throws Error{invalid_model_use} for the unsigned types of more than one byte, which LibTorch
/// lacks
inline at::ScalarType type_of(record::DType dtype) {
  for (const auto& [known, type] : kTensorTypes) {
    if (known == dtype) return type;
  }
  throw Error(ErrorCode::invalid_model_use, "an array of uint16, uint32 or uint64",
              "a type of LibTorch's tensors", "use int32 or int64");
}

}  // namespace hpcboot
