#include "loop/lr_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/counted.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {
namespace {

using Shape = LrSchedule::Shape;

constexpr double kPi = 3.14159265358979323846;

struct NamedShape {
  const char* name;
  Shape shape;
};
constexpr std::array kShapes{NamedShape{"constant", Shape::constant},
                             NamedShape{"step", Shape::step}, NamedShape{"cosine", Shape::cosine},
                             NamedShape{"linear", Shape::linear}};

Shape shape_of(const std::string& name) {
  for (const NamedShape& known : kShapes) {
    if (name == known.name) return known.shape;
  }
  throw UsageError("--schedule is '" + name + "'; it takes constant|step|cosine|linear");
}

double scale_of(const std::string& rule, int devices) {
  if (rule == "none") return 1;
  if (rule == "linear") return devices;
  if (rule == "sqrt") return std::sqrt(devices);
  throw UsageError("--scale-lr is '" + rule + "'; it takes none|linear|sqrt");
}

std::int64_t in_steps(double epochs, std::int64_t steps_per_epoch) {
  constexpr double kMost = 1e18;  // within the range of llround(), and more than any run reaches
  return std::llround(std::min(kMost, epochs * static_cast<double>(steps_per_epoch)));
}

std::int64_t warmup_of(const OptimizationOptions& options, std::int64_t steps_per_epoch) {
  return options.warmup_steps > 0 ? options.warmup_steps
                                  : in_steps(options.warmup_epochs, steps_per_epoch);
}

}  // namespace

LrSchedule::LrSchedule(const OptimizationOptions& options, std::int64_t steps_per_epoch, int epochs,
                       int devices)
    : shape_(shape_of(options.schedule)),
      peak_(options.lr * scale_of(options.scale_lr, devices)),
      warmup_(warmup_of(options, steps_per_epoch)),
      decay_every_(std::max<std::int64_t>(1, in_steps(options.decay_epochs, steps_per_epoch))),
      decay_factor_(options.decay_factor),
      decay_steps_(steps_per_epoch * epochs - warmup_) {
  if (warmup_ > 0 && decay_steps_ < 1) {
    throw UsageError(
        fmt::format("the warm-up takes {}, but the run has only {} ({} of {}); shorten the warm-up",
                    counted(warmup_, "step"), counted(steps_per_epoch * epochs, "step"),
                    counted(epochs, "epoch"), counted(steps_per_epoch, "step")));
  }
}

double LrSchedule::at(std::int64_t step) const {
  if (step < warmup_) {
    return peak_ * static_cast<double>(step + 1) / static_cast<double>(warmup_ + 1);
  }
  const std::int64_t since = step - warmup_;
  const double done = std::min(1.0, static_cast<double>(since) / static_cast<double>(decay_steps_));
  switch (shape_) {
    case Shape::step:
      return peak_ * std::pow(decay_factor_, static_cast<double>(since / decay_every_));
    case Shape::cosine:
      return peak_ * (1 + std::cos(kPi * done)) / 2;
    case Shape::linear:
      return peak_ * (1 - done);
    case Shape::constant:
      break;
  }
  return peak_;
}

}  // namespace hpcboot::train
