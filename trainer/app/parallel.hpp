#pragma once

#include <boost/program_options.hpp>

#include "loop/train_options.hpp"

namespace hpcboot::app {

/// The options of batches, precision and of what ranks exchange. `o` has to outlive their parsing.
boost::program_options::options_description parallel_options(train::TrainOptions& o);

/// @throws UsageError naming the option
void check_parallel(const train::TrainOptions& o);

}  // namespace hpcboot::app
