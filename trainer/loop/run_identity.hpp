#pragma once

#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "json/bounded_json.hpp"
#include "loop/batch_plan.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Every option that what a run computes depends on, under its name with '_' for '-', and a
/// checksum of some of the samples: data may be found elsewhere the next time, such as on a node's
/// own disk. Not among them: the number of epochs, and what may change from start to start, such as
/// the number of ranks.
Json run_identity(const TrainOptions& options, const BatchPlan& batches,
                  const data::Dataset& train_set, const data::Dataset& test_set);

/// A text for each option that differs: "--lr is 0.1, and 0.01 in the run". Empty where none does.
std::vector<std::string> differences(const Json& own, const Json& of_run);

}  // namespace hpcboot::train
