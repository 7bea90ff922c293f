#pragma once

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

namespace hpcboot::train {

/// torch::optim::Adam with one kernel for all parameters in place of several for each, for CUDA
/// devices; and for the CPU where LibTorch has that kernel for it (2.4). State and options are
/// Adam's. Does not know amsgrad.
class FusedAdam : public torch::optim::Adam {
 public:
  using Adam::Adam;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

/// The same of torch::optim::AdamW.
class FusedAdamW : public torch::optim::AdamW {
 public:
  using AdamW::AdamW;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

}  // namespace hpcboot::train
