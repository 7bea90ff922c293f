#include "app/optimization.hpp"

#include <cmath>

#include "app/verbs.hpp"
#include "tasks/task_names.hpp"

namespace hpcboot::app {
namespace {

// Defaults of the tasks, for help.
std::string lr_of(const tasks::KnownTask& task) {
  return tasks::number_text(task.lr);
}
std::string scale_lr_of(const tasks::KnownTask& task) {
  return std::string(task.scale_lr);
}

}  // namespace

options::Group optimization_options(train::OptimizationOptions& o) {
  using options::choice_into;
  using options::into;
  return {"Optimizer and learning rate",
          {{"optimizer", choice_into(o.optimizer, {"adam", "adamw", "sgd"}), "optimizer"},
           {"lr", into(o.lr, "X").otherwise_is(tasks::default_of_each_task(lr_of)),
            "peak learning rate"},
           {"momentum", into(o.momentum, "X"), "momentum of sgd"},
           {"weight-decay", into(o.weight_decay, "X").otherwise_is("0; 0.01 with adamw"),
            "weight decay"},
           {"schedule", choice_into(o.schedule, {"constant", "step", "cosine", "linear"}),
            "learning-rate schedule; cosine and linear reach 0 at the end of the run"},
           {"decay-epochs", into(o.decay_epochs, "X"), "step schedule: epochs between decays"},
           {"decay-factor", into(o.decay_factor, "X"), "step schedule: decay factor"},
           {"warmup-steps", into(o.warmup_steps, "N"),
            "steps of linear warm-up to the peak learning rate"},
           {"warmup-epochs", into(o.warmup_epochs, "X"),
            "the same in epochs; give only one of the two"},
           {"scale-lr",
            choice_into(o.scale_lr, {"none", "linear", "sqrt"})
                .otherwise_is(tasks::default_of_each_task(scale_lr_of)),
            "multiply the learning rate by the number of devices, or by its square root"},
           {"clip-grad-norm", into(o.clip_grad_norm, "X"),
            "clip gradients to this norm; 0: no clipping"}}};
}

void check_optimization(const train::OptimizationOptions& o) {
  const auto require = [](bool good, const char* message) {
    if (!good) throw UsageError(message);
  };
  for (const double value : {o.lr, o.momentum, o.resolved_weight_decay(), o.decay_epochs,
                             o.decay_factor, o.warmup_epochs, o.clip_grad_norm}) {
    require(std::isfinite(value), "the optimizer's options must be finite numbers");
  }
  require(o.lr > 0, "--lr must be above 0");
  require(o.momentum >= 0 && o.momentum < 1, "--momentum must be in [0, 1)");
  require(o.resolved_weight_decay() >= 0, "--weight-decay must be at least 0");
  require(o.decay_epochs > 0, "--decay-epochs must be above 0");
  require(o.decay_factor > 0 && o.decay_factor <= 1, "--decay-factor must be in (0, 1]");
  require(o.warmup_steps >= 0, "--warmup-steps must be at least 0");
  require(o.warmup_epochs >= 0, "--warmup-epochs must be at least 0");
  require(o.clip_grad_norm >= 0, "--clip-grad-norm must be at least 0");
  require(o.warmup_steps == 0 || o.warmup_epochs == 0,
          "--warmup-steps and --warmup-epochs are both given; give only one of them");
}

}  // namespace hpcboot::app
