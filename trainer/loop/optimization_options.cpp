#include "loop/optimization_options.hpp"

namespace hpcboot::train {

Json to_json(const OptimizationOptions& o) {
  return {{"optimizer", o.optimizer},
          {"lr", o.lr},
          {"momentum", o.momentum},
          {"weight_decay", o.resolved_weight_decay()},
          {"schedule", o.schedule},
          {"decay_epochs", o.decay_epochs},
          {"decay_factor", o.decay_factor},
          {"warmup_steps", o.warmup_steps},
          {"warmup_epochs", o.warmup_epochs},
          {"scale_lr", o.scale_lr},
          {"clip_grad_norm", o.clip_grad_norm}};
}

}  // namespace hpcboot::train
