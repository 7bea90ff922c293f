#pragma once

#include <string>

namespace hpcboot::jobscripts {

/// How many seconds before the end of the walltime the training is warned: enough for a checkpoint.
constexpr int kWarningSeconds = 120;

/// The seconds of HH:MM:SS.
/// @throws Error{malformed_value} for everything else; for the other formats of Slurm, the error
/// names the equivalent HH:MM:SS. Also for 0, which Slurm treats as no limit.
int walltime_of(const std::string& time);

/// `seconds` as HH:MM:SS.
std::string time_of(int seconds);

}  // namespace hpcboot::jobscripts
