#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

#include "loop/batch_plan.hpp"
#include "loop/train_options.hpp"

namespace hpcboot::train {

/// Refuses options that do not fit each other, the mode or the device.
/// @param mode the resolved mode
/// @throws UsageError; Error{backend_unavailable} if this device or this build cannot do it
void require_fitting_options(const TrainOptions& options, const std::string& mode,
                             const BatchPlan& batches, c10::Device device);

/// A note that names the options for several ranks if mode auto was resolved to another than ddp;
/// empty if there are none.
std::string unused_options(const TrainOptions& options, const std::string& mode);

/// Whether the model is known to normalise over the samples of a pass, so that the size of passes
/// changes the results.
bool has_batch_norms(const TrainOptions& options);

/// Refuses passes of one image for models whose batch normalisation cannot take one at this size,
/// before an epoch is lost at its last batch.
/// @param smallest_pass smallest_pass() of the run; with --sync-bn, that of all ranks together
/// @throws Error{invalid_model_use}
void require_batch_norm_to_fit(const TrainOptions& options, std::int64_t smallest_pass);

}  // namespace hpcboot::train
