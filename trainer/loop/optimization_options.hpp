#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "json/bounded_json.hpp"

namespace hpcboot::train {

/// How the weights are updated: the optimizer, its learning rate over the run, and limits.
struct OptimizationOptions {
  std::string optimizer = "adam";      ///< adam, adamw, sgd
  double lr = 1e-4;                    ///< peak learning rate, before scale_lr
  double momentum = 0.9;               ///< for sgd
  std::optional<double> weight_decay;  ///< default as in PyTorch: 0, or 0.01 for adamw
  std::string schedule = "constant";   ///< constant, step, cosine, linear
  double decay_epochs = 30;            ///< step schedule: epochs between two decays
  double decay_factor = 0.1;           ///< step schedule: decay factor
  std::int64_t warmup_steps = 0;       ///< the rate grows from near 0 during these steps
  double warmup_epochs = 0;            ///< the same, in epochs
  std::string scale_lr = "none";       ///< none, linear, sqrt: with the number of devices
  double clip_grad_norm = 0;           ///< gradient clipping: max norm; 0: off

  double resolved_weight_decay() const {
    return weight_decay.value_or(optimizer == "adamw" ? 0.01 : 0.0);
  }
};

/// The options under their command-line names, for the run record.
Json to_json(const OptimizationOptions& options);

}  // namespace hpcboot::train
