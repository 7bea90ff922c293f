#pragma once

#include "loop/train_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options of saving, stopping and going on. `o` has to outlive their parsing.
options::Group checkpoint_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_checkpoints(const train::TrainOptions& o);

}  // namespace hpcboot::app
