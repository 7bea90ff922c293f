#pragma once

#include "loop/train_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options for saving, stopping and resuming. `o` must outlive the parsing.
options::Group checkpoint_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_checkpoints(const train::TrainOptions& o);

}  // namespace hpcboot::app
