#pragma once

#include "loop/train_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options for batches, precision and gradients. `o` must outlive the parsing.
options::Group parallel_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_parallel(const train::TrainOptions& o);

}  // namespace hpcboot::app
