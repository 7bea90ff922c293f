#pragma once

#include <boost/program_options.hpp>

#include "loop/optimization_options.hpp"

namespace hpcboot::app {

/// The options of optimizer and learning rate. `o` has to outlive their parsing.
boost::program_options::options_description optimization_options(train::OptimizationOptions& o);

/// @throws UsageError naming the option
void check_optimization(const train::OptimizationOptions& o);

}  // namespace hpcboot::app
