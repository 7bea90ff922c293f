#pragma once

#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "loop/batch_plan.hpp"
#include "loop/train_options.hpp"
#include "tasks/task.hpp"

namespace hpcboot::train {

/// Every option that affects the results of a run, under its name with '_' for '-', and checksums
/// of some of the samples and of all labels: the data may be in another place the next time, such
/// as on a node's own disk. Excluded are the number of epochs, and whatever may change from start
/// to start, such as the number of ranks.
Json run_identity(const TrainOptions& options, const BatchPlan& batches, const tasks::Task& task);

/// A text for each option that differs: "--lr is 0.1, but 0.01 in the run". Empty if none differs.
/// @param where the others are
std::vector<std::string> differences(const Json& own, const Json& others,
                                     const char* where = "in the run");

}  // namespace hpcboot::train
