#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "json/bounded_json.hpp"

namespace hpcboot::train {

/// How the weights are changed: the optimizer, its learning rate over the run, and limits.
struct OptimizationOptions {
  std::string optimizer = "adam";      ///< adam, adamw, sgd
  double lr = 1e-4;                    ///< at its highest, before scale_lr
  double momentum = 0.9;               ///< of sgd
  std::optional<double> weight_decay;  ///< by default 0, 0.01 of adamw, as PyTorch has it
  std::string schedule = "constant";   ///< constant, step, cosine, linear
  double decay_epochs = 30;            ///< of step: the rate falls after so many epochs …
  double decay_factor = 0.1;           ///< … to this part of itself
  std::int64_t warmup_steps = 0;       ///< the rate grows from near 0 during these
  double warmup_epochs = 0;            ///< the same, told in epochs
  std::string scale_lr = "none";       ///< none, linear, sqrt: with the number of devices
  double clip_grad_norm = 0;           ///< gradients are shortened to this norm; 0: never

  double resolved_weight_decay() const {
    return weight_decay.value_or(optimizer == "adamw" ? 0.01 : 0.0);
  }
};

/// The options under their names on the command line, for the record of the run.
Json to_json(const OptimizationOptions& options);

}  // namespace hpcboot::train
