#pragma once

#include "loop/train_options.hpp"
#include "options/option.hpp"

namespace hpcboot::app {

/// The options of batches, precision and of what ranks exchange. `o` has to outlive their parsing.
options::Group parallel_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_parallel(const train::TrainOptions& o);

}  // namespace hpcboot::app
