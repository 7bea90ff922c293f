#pragma once

#include <c10/core/Device.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace hpcboot::train {

/// Whether LibTorch has this kernel, "aten::_fused_adam_" or "aten::_fused_sgd_", for this device
/// type: Adam's exists for CUDA since 1.13 and for the CPU since 2.4, SGD's for CUDA since 2.3 and
/// for the CPU since 2.4.
bool has_fused_kernel(const char* name, c10::DeviceType device);

/// torch::optim::Adam with one kernel for all parameters instead of several for each. Requires
/// has_fused_kernel(). State and options are those of Adam. Does not support amsgrad.
class FusedAdam : public torch::optim::Adam {
 public:
  using Adam::Adam;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

/// The same for torch::optim::AdamW.
class FusedAdamW : public torch::optim::AdamW {
 public:
  using AdamW::AdamW;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

/// The same for torch::optim::SGD.
class FusedSgd : public torch::optim::SGD {
 public:
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

}  // namespace hpcboot::train
