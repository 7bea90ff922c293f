#include "app/optimization.hpp"

#include <cmath>

#include "app/options.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

po::options_description optimization_options(train::OptimizationOptions& o) {
  const auto value = [](auto& slot, const char* name) {
    return po::value(&slot)->default_value(slot)->value_name(name);
  };
  const auto number = [](double& slot, const char* text) {
    return po::value(&slot)->default_value(slot, text)->value_name("X");
  };
  po::options_description options("Optimizer and learning rate");
  auto add = options.add_options();
  add("optimizer", value(o.optimizer, "O"), "adam|adamw|sgd");
  add("lr", number(o.lr, "1e-4"), "learning rate at its highest");
  add("momentum", number(o.momentum, "0.9"), "of sgd");
  add("weight-decay",
      po::value<double>()->value_name("X")->notifier([&o](double x) { o.weight_decay = x; }),
      "[0; 0.01 of adamw]");
  add("schedule", value(o.schedule, "S"),
      "constant|step|cosine|linear: how the rate falls; the last two reach 0 at the end of the "
      "run");
  add("decay-epochs", number(o.decay_epochs, "30"),
      "of step: the rate falls each time after these");
  add("decay-factor", number(o.decay_factor, "0.1"), "of step: to this part of itself");
  add("warmup-steps", value(o.warmup_steps, "N"), "steps in which the rate grows to its highest");
  add("warmup-epochs", number(o.warmup_epochs, "0"), "the same in epochs; give one of the two");
  add("scale-lr", value(o.scale_lr, "RULE"),
      "none|linear|sqrt: multiply the rate by the number of devices, or its root");
  add("clip-grad-norm", number(o.clip_grad_norm, "0"),
      "shorten the gradients to this norm where they are longer; 0: never");
  return options;
}

void check_optimization(const train::OptimizationOptions& o) {
  const auto require = [](bool good, const char* message) {
    if (!good) throw UsageError(message);
  };
  require_one_of("optimizer", o.optimizer, {"adam", "adamw", "sgd"});
  require_one_of("schedule", o.schedule, {"constant", "step", "cosine", "linear"});
  require_one_of("scale-lr", o.scale_lr, {"none", "linear", "sqrt"});
  for (const double value : {o.lr, o.momentum, o.resolved_weight_decay(), o.decay_epochs,
                             o.decay_factor, o.warmup_epochs, o.clip_grad_norm}) {
    require(std::isfinite(value), "the optimizer's options are finite numbers");
  }
  require(o.lr > 0, "--lr has to be above 0");
  require(o.momentum >= 0 && o.momentum < 1, "--momentum has to be in [0, 1)");
  require(o.resolved_weight_decay() >= 0, "--weight-decay has to be at least 0");
  require(o.decay_epochs > 0, "--decay-epochs has to be above 0");
  require(o.decay_factor > 0 && o.decay_factor <= 1, "--decay-factor has to be in (0, 1]");
  require(o.warmup_steps >= 0, "--warmup-steps has to be at least 0");
  require(o.warmup_epochs >= 0, "--warmup-epochs has to be at least 0");
  require(o.clip_grad_norm >= 0, "--clip-grad-norm has to be at least 0");
}

}  // namespace hpcboot::app
