#pragma once

#include <c10/core/Device.h>

#include <string_view>

namespace hpcboot {

/// In what precision a forward pass computes. Parameters, gradients and the optimizer are fp32
/// under all of them. bf16 and fp16 are autocast: LibTorch computes convolutions and products of
/// matrices in that type, and what needs more in fp32.
enum class Precision {
  fp32,
  tf32,  ///< fp32 with products of 10 bits, on CUDA devices from Ampere on
  bf16,
  fp16  ///< on CUDA devices; gradients need a GradScaler
};

/// @throws Error{malformed_value} for another name
Precision precision_of(std::string_view name);

/// Throws where the device cannot compute in that precision, and sets LibTorch's switches for TF32
/// to what it says.
/// @throws Error{backend_unavailable}
void use_precision(Precision precision, c10::Device device);

/// Autocast for the forward pass and the loss, while it lives; nothing for fp32 and tf32. The
/// backward pass stays outside.
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
