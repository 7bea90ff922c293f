#include "hpcboot/torch/precision.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

#include <string>

#include "compat.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {

Precision precision_of(std::string_view name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "tf32") return Precision::tf32;
  if (name == "bf16") return Precision::bf16;
  if (name == "fp16") return Precision::fp16;
  if (name == "fp64") return Precision::fp64;
  throw Error(ErrorCode::malformed_value, "precision '" + std::string(name) + "'",
              "fp32, tf32, bf16, fp16 or fp64", "choose one of these");
}

void use_precision(Precision precision, c10::Device device) {
  if (device.is_cpu() && (precision == Precision::fp16 || precision == Precision::tf32)) {
    const std::string name = precision == Precision::fp16 ? "fp16" : "tf32";
    throw Error(ErrorCode::backend_unavailable, "precision " + name + " on the CPU",
                "a CUDA device: only CUDA devices support " + name + " here",
                "use bf16 or fp32 on the CPU, or train on a CUDA device");
  }
  if (!device.is_cuda()) return;
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::tf32);
  at::globalContext().setAllowTF32CuDNN(precision == Precision::tf32);
}

Autocast::Autocast(Precision precision, c10::Device device)
    : on_(precision == Precision::bf16 || precision == Precision::fp16),
      device_(device.type()),
      before_(false) {
  if (!on_) return;
  before_ = compat::autocast_enabled(device_);
  compat::set_autocast_type(device_, precision == Precision::bf16 ? at::kBFloat16 : at::kHalf);
  compat::set_autocast(device_, true);
  // The converted weights are cached until the outermost Autocast ends.
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  compat::set_autocast(device_, before_);
}

}  // namespace hpcboot
