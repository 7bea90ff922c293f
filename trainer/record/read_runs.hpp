#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// Which runs are meant.
enum class Runs {
  finished,
  all,  ///< also those that failed, were stopped, or are in progress
};

/// Reads the runs in `places`, each a folder of run folders, one run folder or a run.json,
/// one after the other: a record with a thousand ranks is large. A folder of run folders may
/// contain more of its kind, such as that of a comparison, which do not. A run that several places
/// contain counts once.
/// @param take receives a run and its folder
/// @return a line for each run that is not meant or cannot be read: which, and why
/// @throws Error{unreadable_file} if a place does not exist or cannot be listed.
std::vector<std::string> read_runs(
    const std::vector<std::filesystem::path>& places, Runs which,
    const std::function<void(const std::filesystem::path& folder, const RunRecord& run)>& take);

}  // namespace hpcboot::record
