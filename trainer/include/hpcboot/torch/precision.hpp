#pragma once

#include <c10/core/Device.h>

#include <string_view>

namespace hpcboot {

/// The precision of the forward pass. Parameters, gradients and the optimizer are fp32, or fp64.
/// bf16 and fp16 use autocast: LibTorch computes convolutions and matrix products in that type, and
/// operations that need more precision in fp32.
enum class Precision {
  fp32,
  tf32,  ///< fp32, but products with 10 mantissa bits; on CUDA devices, Ampere or newer
  bf16,
  fp16,  ///< on CUDA devices; gradients need a GradScaler
  fp64   ///< parameters and all else as well, for comparisons that rounding must not decide
};

/// @throws Error{malformed_value} for another name
Precision precision_of(std::string_view name);

/// Checks that the device can compute in this precision, and sets LibTorch's TF32 switches
/// accordingly.
/// @throws Error{backend_unavailable} if it cannot
void use_precision(Precision precision, c10::Device device);

/// Enables autocast during its lifetime, for the forward pass and the loss; does nothing for fp32,
/// tf32 and fp64. The backward pass stays outside.
class Autocast {
 public:
  Autocast(Precision precision, c10::Device device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
  c10::DeviceType device_;
  bool before_;
};

}  // namespace hpcboot
