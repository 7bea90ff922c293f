#pragma once

#include "loop/optimization_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options for optimizer and learning rate. `o` must outlive the parsing.
options::Group optimization_options(train::OptimizationOptions& o);

/// @throws UsageError naming the option
void check_optimization(const train::OptimizationOptions& o);

}  // namespace hpcboot::app
