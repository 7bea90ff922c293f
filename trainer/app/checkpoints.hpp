#pragma once

#include <boost/program_options.hpp>

#include "loop/train_options.hpp"

namespace hpcboot::app {

/// The options of saving, stopping and going on. `o` has to outlive their parsing.
boost::program_options::options_description checkpoint_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_checkpoints(const train::TrainOptions& o);

}  // namespace hpcboot::app
