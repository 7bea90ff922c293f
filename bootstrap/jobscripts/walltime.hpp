#pragma once

#include <string>

namespace hpcboot::jobscripts {

/// How long before the end of the walltime the training is told of it, in seconds: enough for a
/// checkpoint.
constexpr int kWarningSeconds = 120;

/// The seconds of HH:MM:SS.
/// @throws Error{malformed_value} for all else; of what Slurm takes besides, with the same in
/// HH:MM:SS
int seconds_of(const std::string& time);

/// `seconds` as HH:MM:SS.
std::string time_of(int seconds);

/// Slurm takes 00:00:00 for no limit, and a walltime within the warning ends every start at once.
/// @param warned whether the training is told kWarningSeconds before the end
/// @throws Error{malformed_value} where `time` is 0, or, warned, not longer than the warning
void check_walltime(const std::string& time, bool warned);

}  // namespace hpcboot::jobscripts
