#pragma once

#include "loop/optimization_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options of optimizer and learning rate. `o` has to outlive their parsing.
options::Group optimization_options(train::OptimizationOptions& o);

/// @throws UsageError naming the option
void check_optimization(const train::OptimizationOptions& o);

}  // namespace hpcboot::app
