#pragma once

#include <string>

namespace hpcboot::jobscripts {

/// How long before the end of the walltime the training is told of it, in seconds: enough for a
/// checkpoint.
constexpr int kWarningSeconds = 120;

/// The seconds of HH:MM:SS.
/// @throws Error{malformed_value} for all else; of what Slurm takes besides, with the same in
/// HH:MM:SS. Also for 0, which Slurm takes for no limit.
int walltime_of(const std::string& time);

/// `seconds` as HH:MM:SS.
std::string time_of(int seconds);

}  // namespace hpcboot::jobscripts
