#pragma once

#include "hpcboot/env.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Trains as the options specify: determines its place among the ranks, trains, and leaves a run
/// folder. Every rank calls it. Prints a line per epoch to stdout on rank 0.
/// @return the exit code
/// @throws UsageError, Error. Once the ranks are connected, an error ends the process immediately
///         with its exit code: an orderly exit would wait for peers that may be gone.
int run_training(const TrainOptions& options, const Env& env);

}  // namespace hpcboot::train
