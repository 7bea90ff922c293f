#pragma once

#include "loop/train_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options for profiles and the monitor. `o` must outlive the parsing.
options::Group observation_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_observation(const train::TrainOptions& o);

}  // namespace hpcboot::app
