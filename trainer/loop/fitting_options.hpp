#pragma once

#include <c10/core/Device.h>

#include <string>

#include "loop/batch_plan.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Refuses options that do not fit each other, the mode or the device.
/// @param mode the resolved mode
/// @throws UsageError; Error{backend_unavailable} if this device or this build cannot do it
void require_fitting_options(const TrainOptions& options, const std::string& mode,
                             const BatchPlan& batches, c10::Device device);

}  // namespace hpcboot::train
