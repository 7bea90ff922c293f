#pragma once

#include <c10/core/Device.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace hpcboot::train {

/// Whether LibTorch has this kernel, such as "aten::_fused_sgd_", for this device type: SGD's
/// exists for CUDA since 2.3 and for the CPU since 2.4.
bool has_fused_kernel(const char* name, c10::DeviceType device);

/// torch::optim::Adam in one pass over all parameters instead of several over each: on the CPU
/// adam_step(), on GPUs LibTorch's fused kernel. State and options are those of Adam. Does not
/// support amsgrad, nor parameters on the CPU that are not float or double, or have gaps.
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

/// The same for torch::optim::SGD, with LibTorch's kernel. Requires has_fused_kernel().
class FusedSgd : public torch::optim::SGD {
 public:
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

}  // namespace hpcboot::train
