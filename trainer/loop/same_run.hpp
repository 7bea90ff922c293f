#pragma once

#include "json/bounded_json.hpp"
#include "loop/communicator.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Checks that every rank trains with rank 0's options on rank 0's data; what a host may have of
/// its own is not compared, such as the device, threads and paths. Collective.
/// Ranks that differ would train several models as one, or wait in collectives that the others
/// never call.
/// @param identity run_identity(): the data and what follows from the options
/// @throws Error{invalid_model_use} with the same text on every rank
void require_same_run(const TrainOptions& options, const Json& identity,
                      Communicator& communicator);

}  // namespace hpcboot::train
