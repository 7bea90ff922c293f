#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <iterator>
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

/// @param dtype one of DTypesTaken::models
inline at::ScalarType type_of(record::DType dtype) {
  return std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                      [&](const auto& pair) { return pair.first == dtype; })
      ->second;
}

}  // namespace hpcboot
