#include "hpcboot/torch/precision.hpp"

#include <string>

#include "compat.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {

Precision precision_of(std::string_view name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "tf32") return Precision::tf32;
  if (name == "bf16") return Precision::bf16;
  if (name == "fp16") return Precision::fp16;
  throw Error(ErrorCode::malformed_value, "precision '" + std::string(name) + "'",
              "fp32, tf32, bf16 or fp16", "choose one of these");
}

void use_precision(Precision precision, c10::Device device) {
  if (device.is_cpu() && (precision == Precision::fp16 || precision == Precision::tf32)) {
    const std::string name = precision == Precision::fp16 ? "fp16" : "tf32";
    throw Error(ErrorCode::backend_unavailable, "precision " + name + " on the CPU",
                "a CUDA device, which alone computes in " + name,
                "use bf16 or fp32 on the CPU, or train on a CUDA device");
  }
  if (device.is_cuda()) compat::allow_tf32(precision == Precision::tf32);
}

Autocast::Autocast(Precision precision, c10::Device device)
    : on_(precision == Precision::bf16 || precision == Precision::fp16),
      cuda_(device.is_cuda()),
      before_(false) {
  if (!on_) return;
  before_ = compat::autocast_enabled(cuda_);
  compat::set_autocast_type(cuda_, precision == Precision::bf16 ? at::kBFloat16 : at::kHalf);
  compat::set_autocast(cuda_, true);
  compat::enter_autocast();
}

Autocast::~Autocast() {
  if (!on_) return;
  compat::leave_autocast();
  compat::set_autocast(cuda_, before_);
}

}  // namespace hpcboot
